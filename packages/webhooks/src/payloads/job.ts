import type { RecordedJob } from '@penstock/core'
import {
  environmentJson,
  isoSeconds,
  type PipelineEventFacts,
  recordedUserJson,
  runnerJson,
  sourcePipelineJson,
} from './pipeline.ts'
import { briefProjectJson, clonedRepositoryJson, type Json, NO_SHA, REDACTED } from './shared-objects.ts'

export interface JobFacts extends PipelineEventFacts {
  readonly job: RecordedJob
}

export function jobPayload(event: JobFacts, externalUrl: string): Json {
  const { facts, run, job } = event
  const { pipeline } = run
  return {
    object_kind: 'build',
    ref: pipeline.ref ?? null,
    tag: pipeline.isTag ?? false,
    before_sha: pipeline.beforeSha ?? NO_SHA,
    sha: pipeline.sha ?? null,
    retries_count: retriesOf(event),
    build_id: job.id,
    build_name: job.name ?? null,
    build_stage: job.stage ?? null,
    build_status: job.status,
    ...times('build_created_at', job.createdAtMs),
    ...times('build_started_at', job.startedAtMs),
    ...times('build_finished_at', job.finishedAtMs),
    build_duration: job.durationSeconds ?? null,
    build_queued_duration: job.queuedSeconds ?? null,
    build_allow_failure: job.allowFailure,
    build_failure_reason: job.failureReason ?? (job.status === 'failed' ? null : 'unknown_failure'),
    pipeline_id: pipeline.id,
    runner: runnerJson(job),
    project_id: facts.project.id,
    project_name: facts.nameWithNamespace,
    user: recordedUserJson(job.user ?? pipeline.user),
    commit: {
      id: pipeline.id,
      name: pipeline.name ?? null,
      sha: pipeline.sha ?? null,
      message: pipeline.commit?.message ?? pipeline.commit?.title ?? '',
      author_name: pipeline.commit?.authorName ?? '',
      author_email: REDACTED,
      author_url: null,
      status: pipeline.status,
      duration: pipeline.durationSeconds ?? null,
      started_at: isoTime(pipeline.startedAtMs),
      finished_at: isoTime(pipeline.finishedAtMs),
      started_at_iso: isoSeconds(pipeline.startedAtMs),
      finished_at_iso: isoSeconds(pipeline.finishedAtMs),
    },
    repository: clonedRepositoryJson(facts, externalUrl),
    project: briefProjectJson(facts, externalUrl),
    environment: environmentJson(job),
    ...sourcePipelineJson(event, externalUrl),
  }
}

const isoTime = (ms: number | undefined): string | null => (ms === undefined ? null : new Date(ms).toISOString())
const times = (name: string, ms: number | undefined) => ({ [name]: isoTime(ms), [`${name}_iso`]: isoSeconds(ms) })

/**
 * Returns the number of earlier attempts; null if the record neither says it nor lists several attempts: most forges list
 * the latest attempt only.
 */
function retriesOf({ run, job }: JobFacts): number | null {
  if (job.retriesCount !== undefined) return job.retriesCount
  const attempts = run.jobs.filter(
    (other) => other.name === job.name && other.stage === job.stage && other.isBridge === job.isBridge,
  )
  if (job.name === undefined || attempts.length === 1) return null
  return attempts.filter(({ id }) => id < job.id).length
}
