import type { PipelineFacts, ProjectFacts, RecordedJob, RecordedUser } from '@penstock/core'
import { briefProjectJson, commitUrl, hookTime, type Json, NO_SHA, REDACTED } from './shared-objects.ts'

export interface PipelineEventFacts {
  readonly facts: ProjectFacts
  readonly run: PipelineFacts
}

/**
 * Returns the payload of a pipeline. A value that the record did not have is null, because a guess would become telemetry
 * of another service.
 */
export function pipelinePayload({ facts, run }: PipelineEventFacts, externalUrl: string): Json {
  const { pipeline, jobs, variables } = run
  const { passedOn } = pipeline
  return {
    object_kind: 'pipeline',
    object_attributes: {
      id: pipeline.id,
      iid: pipeline.iid ?? null,
      name: pipeline.name ?? null,
      ref: pipeline.ref ?? null,
      tag: pipeline.isTag ?? null,
      sha: pipeline.sha ?? null,
      before_sha: pipeline.beforeSha ?? NO_SHA,
      source: pipeline.source ?? null,
      status: pipeline.status,
      detailed_status: pipeline.detailedStatus ?? null,
      stages: passedOn?.stages ?? stagesOf(run),
      created_at: exactTime(pipeline.createdAtMs),
      started_at: exactTime(pipeline.startedAtMs),
      finished_at: exactTime(pipeline.finishedAtMs),
      duration: pipeline.durationSeconds ?? null,
      queued_duration: pipeline.queuedSeconds ?? null,
      protected_ref: passedOn?.isRefProtected ?? null,
      default_branch: pipeline.ref !== undefined && pipeline.ref === facts.project.defaultBranch,
      variables: variables.map(({ key, value }) => ({ key, value })),
      url: passedOn?.url ?? `${externalUrl}/${facts.project.fullPath}/-/pipelines/${pipeline.id}`,
      ...correlationJson(run),
    },
    merge_request: mergeRequestJson(run),
    user: recordedUserJson(pipeline.user),
    project: briefProjectJson(facts, externalUrl),
    commit: recordedCommitJson({ facts, run }, externalUrl),
    builds: jobs.filter(({ isBridge }) => !isBridge).map(buildJson),
    ...(listsBridges(run) && { bridges: jobs.filter(({ isBridge }) => isBridge).map(buildJson) }),
    ...sourcePipelineJson({ facts, run }, externalUrl),
  }
}

const stagesOf = ({ pipeline, jobs }: PipelineFacts) => [
  ...new Set([...(pipeline.stageOrder ?? []), ...jobs.flatMap(({ stage }) => stage ?? [])]),
]

/** Whether a list of bridges is sent decides where the converter places child pipelines, so there is one if the record had one. */
const listsBridges = ({ pipeline, jobs }: PipelineFacts): boolean =>
  pipeline.passedOn?.listsBridges ?? jobs.some(({ isBridge }) => isBridge)

/** Returns the members that only some forges send. */
const correlationJson = ({ pipeline: { passedOn } }: PipelineFacts) => ({
  ...(passedOn?.rootPipelineId !== undefined && { root_pipeline_id: passedOn.rootPipelineId }),
  ...(passedOn?.updatedAtMs !== undefined && { updated_at: exactTime(passedOn.updatedAtMs) }),
  ...(passedOn?.failureReason !== undefined && { failure_reason: passedOn.failureReason }),
  ...(passedOn?.refStatusName !== undefined && { ref_status_name: passedOn.refStatusName }),
})

function mergeRequestJson({ pipeline }: PipelineFacts): Json | null {
  const change = pipeline.passedOn?.mergeRequest
  if (change === undefined) return null
  return {
    id: change.id ?? null,
    iid: change.iid ?? null,
    title: change.title ?? null,
    source_branch: change.sourceBranch ?? null,
    source_project_id: change.sourceProjectId ?? null,
    target_branch: change.targetBranch ?? null,
    target_project_id: change.targetProjectId ?? null,
    state: change.state ?? null,
    merge_status: change.mergeStatus ?? null,
    detailed_merge_status: change.detailedMergeStatus ?? null,
    url: change.url ?? null,
    ...(change.draft !== undefined && { draft: change.draft }),
    ...(change.workInProgress !== undefined && { work_in_progress: change.workInProgress }),
  }
}

function recordedCommitJson({ facts: { project }, run: { pipeline } }: PipelineEventFacts, externalUrl: string) {
  const { commit } = pipeline
  if (commit === undefined) return null
  return {
    id: commit.id ?? null,
    message: commit.message ?? '',
    title: commit.title ?? '',
    timestamp: isoSeconds(commit.committedAtMs),
    url: commit.id === undefined ? null : commitUrl(project, commit.id, externalUrl),
    author: { name: commit.authorName ?? '', email: REDACTED },
  }
}

/** Returns the pipeline that started this one, if there is one. */
export function sourcePipelineJson({ facts: { project }, run: { pipeline } }: PipelineEventFacts, externalUrl: string) {
  const { upstream } = pipeline
  if (upstream === undefined) return {}
  const { isOtherProject, projectId, projectPath, projectUrl } = upstream
  const path = isOtherProject ? projectPath : project.fullPath
  const ownUrl = path === undefined ? null : `${externalUrl}/${path}`
  return {
    source_pipeline: {
      project: {
        id: isOtherProject ? (projectId ?? null) : project.id,
        web_url: isOtherProject ? (projectUrl ?? ownUrl) : ownUrl,
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
    created_at: exactTime(job.createdAtMs),
    started_at: exactTime(job.startedAtMs),
    finished_at: exactTime(job.finishedAtMs),
    duration: job.durationSeconds ?? null,
    queued_duration: job.queuedSeconds ?? null,
    failure_reason: job.failureReason ?? null,
    when: job.when ?? null,
    manual: job.isManual ?? null,
    allow_failure: job.allowFailure,
    user: recordedUserJson(job.user),
    runner: runnerJson(job),
    artifacts_file: { filename: artifacts?.filename ?? null, size: artifacts?.size ?? null },
    environment: environmentJson(job),
    ...(job.retriesCount !== undefined && { retries_count: job.retriesCount }),
  }
}

export const runnerJson = ({ runner }: RecordedJob): Json | null =>
  runner === undefined
    ? null
    : {
        id: runner.id ?? null,
        runner_type: runner.type ?? null,
        description: runner.description ?? null,
        active: runner.isActive ?? null,
        is_shared: runner.isShared ?? null,
        tags: runner.tags,
      }

export const environmentJson = ({ environment }: RecordedJob): Json | null =>
  environment === undefined
    ? null
    : {
        name: environment.name ?? null,
        action: environment.action ?? null,
        deployment_tier: environment.deploymentTier ?? null,
      }

/** Returns a time as `2026-02-03 09:10:11 UTC`, or with milliseconds if it has some. */
function exactTime(ms: number | undefined): string | null {
  if (ms === undefined) return null
  const milliseconds = ms % 1_000
  if (milliseconds === 0) return hookTime(ms)
  return hookTime(ms).replace(' UTC', `.${String(milliseconds).padStart(3, '0')} UTC`)
}

/** Returns a time as `2026-02-03T09:10:11Z`. */
export const isoSeconds = (ms: number | undefined): string | null =>
  ms === undefined ? null : `${hookTime(ms).slice(0, 19).replace(' ', 'T')}Z`
