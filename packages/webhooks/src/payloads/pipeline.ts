import type { PipelineFacts, ProjectFacts, RecordedJob, RecordedUser } from '@penstock/core'
import { briefProjectJson, commitUrl, hookTime, hookTimeOrNull, type Json, NO_SHA, REDACTED } from './shared-objects.ts'

export interface PipelineEventFacts {
  readonly facts: ProjectFacts
  readonly run: PipelineFacts
}

export function pipelinePayload({ facts, run }: PipelineEventFacts, externalUrl: string): Json {
  const { pipeline, jobs, variables } = run
  const stages = [...new Set([...(pipeline.stageOrder ?? []), ...jobs.flatMap(({ stage }) => stage ?? [])])]
  return {
    object_kind: 'pipeline',
    object_attributes: {
      id: pipeline.id,
      iid: pipeline.iid ?? pipeline.id,
      name: pipeline.name ?? null,
      ref: pipeline.ref ?? null,
      tag: pipeline.isTag ?? false,
      sha: pipeline.sha ?? null,
      before_sha: pipeline.beforeSha ?? NO_SHA,
      source: pipeline.source ?? null,
      status: pipeline.status,
      detailed_status: pipeline.detailedStatus ?? pipeline.status,
      stages,
      created_at: hookTimeOrNull(pipeline.createdAtMs),
      started_at: hookTimeOrNull(pipeline.startedAtMs),
      finished_at: hookTimeOrNull(pipeline.finishedAtMs),
      duration: pipeline.durationSeconds ?? null,
      queued_duration: pipeline.queuedSeconds ?? null,
      protected_ref: false,
      default_branch: pipeline.ref !== undefined && pipeline.ref === facts.project.defaultBranch,
      variables: variables.map(({ key, value }) => ({ key, value })),
      url: `${externalUrl}/${facts.project.fullPath}/-/pipelines/${pipeline.id}`,
    },
    merge_request: null,
    user: recordedUserJson(pipeline.user),
    project: briefProjectJson(facts, externalUrl),
    commit: recordedCommitJson({ facts, run }, externalUrl),
    builds: jobs.filter(({ isBridge }) => !isBridge).map(buildJson),
    bridges: jobs.filter(({ isBridge }) => isBridge).map(buildJson),
    ...sourcePipelineJson({ facts, run }, externalUrl),
  }
}

function recordedCommitJson({ facts: { project }, run: { pipeline } }: PipelineEventFacts, externalUrl: string) {
  const { commit, sha } = pipeline
  if (commit === undefined && sha === undefined) return null
  const id = commit?.id ?? sha ?? null
  return {
    id,
    message: commit?.message ?? commit?.title ?? '',
    title: commit?.title ?? '',
    timestamp: isoSeconds(commit?.committedAtMs),
    url: id === null ? null : commitUrl(project, id, externalUrl),
    author: { name: commit?.authorName ?? '', email: REDACTED },
  }
}

/** Returns the pipeline that started this one, if there is one. */
export function sourcePipelineJson({ facts: { project }, run: { pipeline } }: PipelineEventFacts, externalUrl: string) {
  const { upstream } = pipeline
  if (upstream === undefined) return {}
  const path = upstream.isOtherProject ? upstream.projectPath : project.fullPath
  return {
    source_pipeline: {
      project: {
        id: upstream.isOtherProject ? null : project.id,
        web_url: path === undefined ? null : `${externalUrl}/${path}`,
        path_with_namespace: path ?? null,
      },
      pipeline_id: upstream.pipelineId,
      job_id: upstream.jobId ?? null,
    },
  }
}

/** Returns the user of the forge that ran a pipeline or job, as its record has it. */
export const recordedUserJson = (user: RecordedUser | undefined): Json | null =>
  user === undefined
    ? null
    : {
        id: user.id ?? null,
        name: user.name ?? '',
        username: user.username ?? '',
        avatar_url: null,
        email: REDACTED,
      }

function buildJson(job: RecordedJob): Json {
  const { artifacts } = job
  return {
    id: job.id,
    stage: job.stage ?? null,
    name: job.name ?? null,
    status: job.status,
    created_at: hookTimeOrNull(job.createdAtMs),
    started_at: hookTimeOrNull(job.startedAtMs),
    finished_at: hookTimeOrNull(job.finishedAtMs),
    duration: job.durationSeconds ?? null,
    queued_duration: job.queuedSeconds ?? null,
    failure_reason: job.failureReason ?? null,
    when: job.when ?? 'on_success',
    manual: job.isManual ?? false,
    allow_failure: job.allowFailure,
    user: recordedUserJson(job.user),
    runner: runnerJson(job),
    artifacts_file: { filename: artifacts?.filename ?? null, size: artifacts?.size ?? null },
    environment: environmentJson(job),
  }
}

export const runnerJson = ({ runner }: RecordedJob): Json | null =>
  runner === undefined
    ? null
    : {
        id: runner.id ?? null,
        runner_type: runner.type ?? null,
        description: runner.description ?? null,
        active: runner.isActive ?? true,
        is_shared: runner.isShared ?? false,
        tags: runner.tags,
      }

export const environmentJson = ({ environment }: RecordedJob): Json | null =>
  environment?.name === undefined
    ? null
    : {
        name: environment.name,
        action: environment.action ?? null,
        deployment_tier: environment.deploymentTier ?? null,
      }

/** Returns a time as `2026-02-03T09:10:11Z`. */
export const isoSeconds = (ms: number | undefined): string | null =>
  ms === undefined ? null : `${hookTime(ms).slice(0, 19).replace(' ', 'T')}Z`
