import type { BridgeWithCommit, JobWithCommit, RecordedArtifacts, RecordedRunner } from '@penstock/core'
import { z } from 'zod'
import { isoTime } from '../../routing/iso-time.ts'
import type { JsonContext, Shape } from '../../routing/route.ts'
import { commitJson, commitSchema } from './commit-shape.ts'
import { pipelineSummaryShape, recordedUserShape } from './pipeline-shape.ts'

/** The commit of a job. If it is not in the repository, it has only the fields that the record contains. */
const jobCommitSchema = z
  .object(Object.fromEntries(Object.entries(commitSchema.shape).map(([name, schema]) => [name, schema.nullable()])))
  .meta({ id: 'JobCommit' })
  .nullable()

const commonFields = {
  id: z.int(),
  status: z.string(),
  stage: z.string().nullable(),
  name: z.string().nullable(),
  ref: z.string().nullable(),
  tag: z.boolean().nullable(),
  coverage: z.null(),
  allow_failure: z.boolean(),
  created_at: z.string().nullable(),
  started_at: z.string().nullable(),
  finished_at: z.string().nullable(),
  erased_at: z.null(),
  duration: z.number().nullable(),
  queued_duration: z.number().nullable(),
  user: recordedUserShape.schema,
  commit: jobCommitSchema,
  pipeline: pipelineSummaryShape.schema,
  /** Only for failed jobs. */
  failure_reason: z.string().optional(),
  when: z.string(),
  manual: z.boolean().nullable(),
  web_url: z.string(),
  project: z.object({ ci_job_token_scope_enabled: z.literal(false) }),
  environment: z
    .object({ name: z.string().nullable(), action: z.string().nullable(), deployment_tier: z.string().nullable() })
    .nullable(),
}

function commonJson(job: JobWithCommit, context: JsonContext) {
  const { pipeline, environment } = job
  return {
    id: job.id,
    status: job.status,
    stage: job.stage ?? null,
    name: job.name ?? null,
    ref: pipeline.ref ?? null,
    tag: pipeline.isTag ?? null,
    coverage: null,
    allow_failure: job.allowFailure,
    created_at: isoTime(job.createdAtMs),
    started_at: isoTime(job.startedAtMs),
    finished_at: isoTime(job.finishedAtMs),
    erased_at: null,
    duration: job.durationSeconds ?? null,
    queued_duration: job.queuedSeconds ?? null,
    // A record without users of jobs names the user of the pipeline, who started them.
    user: recordedUserShape.of(job.user ?? pipeline.user, context),
    commit: job.commit === undefined ? recordedCommitJson(job, context) : commitJson(job.commit, context),
    pipeline: pipelineSummaryShape.of(pipeline, context),
    ...(job.failureReason !== undefined && { failure_reason: job.failureReason }),
    when: job.when ?? (job.isManual ? 'manual' : 'on_success'),
    manual: job.isManual ?? null,
    web_url: `${context.externalUrl}/${pipeline.projectPath}/-/jobs/${job.id}`,
    project: { ci_job_token_scope_enabled: false },
    environment: environment
      ? {
          name: environment.name ?? null,
          action: environment.action ?? null,
          deployment_tier: environment.deploymentTier ?? null,
        }
      : null,
  }
}

function recordedCommitJson({ pipeline: { commit, projectPath } }: JobWithCommit, { externalUrl }: JsonContext) {
  if (commit === undefined) return null
  const committedAt = isoTime(commit.committedAtMs)
  return {
    id: commit.id ?? null,
    short_id: commit.id?.slice(0, 8) ?? null,
    created_at: committedAt,
    parent_ids: null,
    title: commit.title ?? null,
    message: commit.message ?? null,
    author_name: commit.authorName ?? null,
    author_email: null,
    authored_date: null,
    committer_name: null,
    committer_email: null,
    committed_date: committedAt,
    trailers: null,
    extended_trailers: null,
    web_url: commit.id === undefined ? null : `${externalUrl}/${projectPath}/-/commit/${encodeURIComponent(commit.id)}`,
  }
}

/** The archive of a job's artifacts, the only file that a record describes. */
const artifactSchema = z.object({
  file_type: z.literal('archive'),
  size: z.int().nullable(),
  filename: z.string().nullable(),
  file_format: z.literal('zip'),
})

const artifactJson = ({ size, filename }: RecordedArtifacts) => ({
  file_type: 'archive',
  size: size ?? null,
  filename: filename ?? null,
  file_format: 'zip',
})

function runnerJson(runner: RecordedRunner | undefined) {
  if (runner === undefined) return null
  return {
    id: runner.id ?? null,
    description: runner.description ?? null,
    active: runner.isActive ?? null,
    paused: runner.isActive === undefined ? null : !runner.isActive,
    is_shared: runner.isShared ?? null,
    runner_type: runner.type ?? null,
    name: null,
    online: null,
    status: null,
    tags: runner.tags,
  }
}

export const jobShape: Shape<JobWithCommit> = {
  schema: z
    .object({
      ...commonFields,
      artifacts_file: z.object({ filename: z.string().nullable(), size: z.int().nullable() }).optional(),
      artifacts: z.array(artifactSchema),
      artifacts_expire_at: z.null(),
      runner: z
        .object({
          id: z.int().nullable(),
          description: z.string().nullable(),
          active: z.boolean().nullable(),
          paused: z.boolean().nullable(),
          is_shared: z.boolean().nullable(),
          runner_type: z.string().nullable(),
          name: z.null(),
          online: z.null(),
          status: z.null(),
          tags: z.array(z.string()),
        })
        .nullable(),
      runner_manager: z.null(),
      tag_list: z.array(z.string()),
      archived: z.literal(false),
    })
    .meta({ id: 'Job' }),
  of: (job, context) => ({
    ...commonJson(job, context),
    ...(job.artifacts && {
      artifacts_file: { filename: job.artifacts.filename ?? null, size: job.artifacts.size ?? null },
    }),
    artifacts: job.artifacts === undefined ? [] : [artifactJson(job.artifacts)],
    artifacts_expire_at: null,
    runner: runnerJson(job.runner),
    runner_manager: null,
    tag_list: [],
    archived: false,
  }),
}

export const bridgeShape: Shape<BridgeWithCommit> = {
  schema: z
    .object({ ...commonFields, downstream_pipeline: pipelineSummaryShape.schema.nullable() })
    .meta({ id: 'Bridge' }),
  of: (bridge, context) => ({
    ...commonJson(bridge, context),
    downstream_pipeline: bridge.downstream === undefined ? null : pipelineSummaryShape.of(bridge.downstream, context),
  }),
}
