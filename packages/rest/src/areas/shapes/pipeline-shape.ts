import { faviconOfStatus, type Pipeline, pipelineStatusWording, type RecordedUser } from '@penstock/core'
import { z } from 'zod'
import { isoTime } from '../../routing/iso-time.ts'
import type { JsonContext, Shape } from '../../routing/route.ts'

const summaryFields = {
  id: z.int(),
  iid: z.int().nullable(),
  project_id: z.int(),
  sha: z.string().nullable(),
  ref: z.string().nullable(),
  status: z.string(),
  source: z.string().nullable(),
  created_at: z.string().nullable(),
  updated_at: z.string(),
  web_url: z.string(),
}

/** A pipeline as embedded in other resources. */
export const pipelineSummaryShape = {
  schema: z.object(summaryFields).meta({ id: 'PipelineSummary' }),
  of: (pipeline: Pipeline, context: JsonContext) => ({
    id: pipeline.id,
    iid: pipeline.iid ?? null,
    project_id: pipeline.projectId,
    sha: pipeline.sha ?? null,
    ref: pipeline.ref ?? null,
    status: pipeline.status,
    source: pipeline.source ?? null,
    created_at: isoTime(pipeline.createdAtMs),
    updated_at: isoTime(pipeline.updatedAtMs),
    web_url: urlOf(pipeline, context),
  }),
} satisfies Shape<Pipeline>

export const listedPipelineShape = {
  schema: z.object({ ...summaryFields, name: z.string().nullable() }).meta({ id: 'ListedPipeline' }),
  of: (pipeline: Pipeline, context: JsonContext) => ({
    ...pipelineSummaryShape.of(pipeline, context),
    name: pipeline.name ?? null,
  }),
} satisfies Shape<Pipeline>

/** A user of the recorded GitLab instance, who may not exist here. */
export const recordedUserShape = {
  schema: z
    .object({
      id: z.int().nullable(),
      username: z.string().nullable(),
      name: z.string().nullable(),
      state: z.literal('active'),
      avatar_url: z.null(),
      web_url: z.string().nullable(),
    })
    .meta({ id: 'RecordedUser' })
    .nullable(),
  of: (user: RecordedUser | undefined, { externalUrl }: JsonContext) =>
    user === undefined
      ? null
      : {
          id: user.id ?? null,
          username: user.username ?? null,
          name: user.name ?? null,
          state: 'active',
          avatar_url: null,
          web_url: user.username === undefined ? null : `${externalUrl}/${encodeURIComponent(user.username)}`,
        },
} satisfies Shape<RecordedUser | undefined>

export const pipelineShape = {
  schema: z
    .object({
      ...listedPipelineShape.schema.shape,
      before_sha: z.string().nullable(),
      tag: z.boolean().nullable(),
      yaml_errors: z.null(),
      user: recordedUserShape.schema,
      started_at: z.string().nullable(),
      finished_at: z.string().nullable(),
      committed_at: z.string().nullable(),
      duration: z.int().nullable(),
      queued_duration: z.int().nullable(),
      coverage: z.null(),
      detailed_status: z.object({
        icon: z.string(),
        text: z.string(),
        label: z.string(),
        group: z.string(),
        tooltip: z.string(),
        has_details: z.literal(true),
        details_path: z.string(),
        illustration: z.null(),
        favicon: z.string(),
      }),
      archived: z.literal(false),
    })
    .meta({ id: 'Pipeline' }),
  of: (pipeline: Pipeline, context: JsonContext) => ({
    ...listedPipelineShape.of(pipeline, context),
    before_sha: pipeline.beforeSha ?? null,
    tag: pipeline.isTag ?? null,
    yaml_errors: null,
    user: recordedUserShape.of(pipeline.user, context),
    started_at: isoTime(pipeline.startedAtMs),
    finished_at: isoTime(pipeline.finishedAtMs),
    committed_at: isoTime(pipeline.commit?.committedAtMs),
    duration: wholeSeconds(pipeline.durationSeconds),
    queued_duration: wholeSeconds(pipeline.queuedSeconds),
    coverage: null,
    detailed_status: detailedStatus(pipeline, context),
    archived: false,
  }),
} satisfies Shape<Pipeline>

function detailedStatus(pipeline: Pipeline, context: JsonContext) {
  const wording = pipelineStatusWording(pipeline)
  const { icon, text, label, group } = wording
  return {
    icon,
    text,
    label,
    group,
    tooltip: label,
    has_details: true,
    details_path: new URL(urlOf(pipeline, context)).pathname,
    illustration: null,
    favicon: faviconOfStatus(wording),
  }
}

/**
 * Rounds a duration of a pipeline. GitLab sends whole seconds for pipelines, but not for jobs, and clients in typed
 * languages rely on that.
 */
const wholeSeconds = (seconds: number | undefined): number | null =>
  seconds === undefined ? null : Math.round(seconds)

const urlOf = ({ projectPath, id }: Pipeline, { externalUrl }: JsonContext): string =>
  `${externalUrl}/${projectPath}/-/pipelines/${id}`
