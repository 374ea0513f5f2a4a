import type { BridgeOfPipeline, JobOfPipeline, RecordedCommit, RecordedRunner } from '@penstock/core'
import { z } from 'zod'
import type { JsonContext, Shape } from '../../routing/route.ts'
import { pipelineSummaryShape, recordedUserShape, timeOf } from './pipeline-shape.ts'

const commitSchema = z
  .object({
    id: z.string().nullable(),
    short_id: z.string().nullable(),
    created_at: z.string().nullable(),
    title: z.string().nullable(),
    message: z.string().nullable(),
    author_name: z.string().nullable(),
  })
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
  commit: commitSchema,
  pipeline: pipelineSummaryShape.schema,
  /** Only for failed jobs. */
  failure_reason: z.string().optional(),
  when: z.string().nullable(),
  manual: z.boolean().nullable(),
  web_url: z.string(),
  project: z.object({ ci_job_token_scope_enabled: z.literal(false) }),
  environment: z
    .object({ name: z.string().nullable(), action: z.string().nullable(), deployment_tier: z.string().nullable() })
    .nullable(),
}

function commonJson(job: JobOfPipeline, context: JsonContext) {
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
    created_at: timeOf(job.createdAtMs),
    started_at: timeOf(job.startedAtMs),
    finished_at: timeOf(job.finishedAtMs),
    erased_at: null,
    duration: job.durationSeconds ?? null,
    queued_duration: job.queuedSeconds ?? null,
    user: recordedUserShape.of(job.user, context),
    commit: commitJson(pipeline.commit),
    pipeline: pipelineSummaryShape.of(pipeline, context),
    ...(job.failureReason !== undefined && { failure_reason: job.failureReason }),
    when: job.when ?? null,
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

function commitJson(commit: RecordedCommit | undefined) {
  if (commit === undefined) return null
  return {
    id: commit.id ?? null,
    short_id: commit.id?.slice(0, 8) ?? null,
    created_at: timeOf(commit.committedAtMs),
    title: commit.title ?? null,
    message: commit.message ?? null,
    author_name: commit.authorName ?? null,
  }
}

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

export const jobShape: Shape<JobOfPipeline> = {
  schema: z
    .object({
      ...commonFields,
      artifacts_file: z.object({ filename: z.string().nullable(), size: z.int().nullable() }).optional(),
      artifacts: z.array(z.never()),
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
    artifacts: [],
    artifacts_expire_at: null,
    runner: runnerJson(job.runner),
    runner_manager: null,
    tag_list: [],
    archived: false,
  }),
}

export const bridgeShape: Shape<BridgeOfPipeline> = {
  schema: z
    .object({ ...commonFields, downstream_pipeline: pipelineSummaryShape.schema.nullable() })
    .meta({ id: 'Bridge' }),
  of: (bridge, context) => ({
    ...commonJson(bridge, context),
    downstream_pipeline: bridge.downstream === undefined ? null : pipelineSummaryShape.of(bridge.downstream, context),
  }),
}
