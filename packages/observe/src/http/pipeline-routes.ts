import { z } from 'zod'
import {
  atMost,
  cursorParameter,
  nanoseconds,
  queryRoute,
  range,
  searchText,
  service,
  traceParams,
} from './query-route.ts'

const MAX_RUNS = 200
const text = z.string().nullable()
const seconds = z.number().nullable()

/** The kind of a run's ref; spans do not name the default branch, so it is one with a usual name. */
export const refKind = z.enum(['default_branch', 'other_branch', 'tag', 'merge_request']).nullable().meta({
  description: 'The default branch is one named main, master or trunk; null if the ref is unknown',
})

const shapeJob = z.object({
  name: z.string(),
  stage: text,
  status: text,
  start_ns: nanoseconds,
  end_ns: nanoseconds,
})

/** One pipeline run, as lists and comparisons return it. */
export const runJson = z.object({
  trace_id: z.string(),
  span_id: z.string(),
  service: z.string(),
  namespace: text.meta({ description: 'The path of the group or owner of the project' }),
  name: text,
  project: text.meta({ description: 'The full path of the project; its name if the path is unknown' }),
  project_name: text,
  project_url: text,
  forge: text.meta({
    description: 'The forge of the run, such as github; null if its telemetry has no `vcs.provider.name`',
  }),
  pipeline_id: text,
  pipeline_iid: z.number().nullable(),
  ref: text,
  ref_kind: refKind,
  sha: text,
  title: text.meta({ description: 'The first line of the commit message, or the title of the merge request' }),
  trigger: text,
  user: text,
  url: text,
  status: text.meta({ description: 'The word of the service, such as success, failed, canceled, skipped, running' }),
  start_ns: nanoseconds,
  end_ns: nanoseconds,
  duration_ns: z.string().nullable().meta({ description: 'End − start of a finished run' }),
  busy_seconds: seconds.meta({ description: "The platform's duration, which leaves out waiting" }),
  queue_seconds: seconds,
  jobs: z.int().meta({ description: 'Job spans, with bridges and all attempts' }),
  jobs_failed: z.int().meta({ description: 'Failed job spans, with those of child pipelines, without bridges' }),
  failed_jobs: z
    .array(z.string())
    .meta({ description: 'At most 5 names of failed jobs, or of failed bridges if no job is known to have failed' }),
  is_child: z.boolean(),
  coverage: seconds,
  shape: z.array(shapeJob).meta({ description: 'The 40 longest jobs, in order of start' }),
})

/** The filters that every query about runs accepts. */
export const runFilter = {
  ...range,
  service,
  project: z.string().min(1).optional().meta({ description: 'A full path or a name' }),
  ref: z.string().min(1).optional(),
}

/** The filters of the list of runs, without its range. */
export const runListFilter = {
  service,
  project: runFilter.project,
  forge: z.string().min(1).optional().meta({ description: 'The name of a forge, as runs have it' }),
  ref: runFilter.ref,
  status: z.string().min(1).optional(),
  job: z.string().min(1).optional().meta({ description: 'The name of a job that the run has' }),
  children: z.enum(['0', '1']).optional(),
  q: searchText.meta({ description: 'A text in the project, ref, title, user or name, in any case' }).optional(),
}

export const facets = z.object({
  services: z.array(z.string()),
  projects: z.array(z.string()),
  forges: z.array(z.string()),
  refs: z.array(z.string()),
  statuses: z.array(z.string()),
})

export const pipelineRoutes = [
  queryRoute({
    path: '/pipelines',
    operationId: 'listObservedPipelines',
    summary: 'Pipeline runs, the latest start first',
    description:
      'A run is a span of any service with attributes `cicd.pipeline.*` that is no job. Child pipelines are left out unless `children=1`.',
    answer: z.array(runJson),
    query: z.strictObject({
      ...range,
      ...runListFilter,
      limit: atMost(MAX_RUNS).optional(),
      cursor: cursorParameter('pipelines', ['integer', 'integer']),
    }),
    toStoreQuery: ({ since, until, children, q, cursor, limit = 50, ...filter }) => ({
      kind: 'runs',
      filter: { ...filter, text: q, sinceNs: since, untilNs: until, children: children === '1', after: cursor, limit },
    }),
  }),
  queryRoute({
    path: '/pipelines/:trace_id',
    operationId: 'getObservedPipeline',
    summary: 'The run at the root of a trace',
    answer: runJson,
    params: traceParams,
    refusals: { 404: { description: 'The trace has no pipeline run' } },
    toStoreQuery: (_, { trace_id }) => ({ kind: 'run', traceId: trace_id }),
  }),
  queryRoute({
    path: '/facets',
    operationId: 'getObservedFacets',
    summary: 'The values that filters of pipeline runs can have',
    answer: facets,
    query: z.strictObject({ service }),
    toStoreQuery: ({ service }) => ({ kind: 'facets', service }),
  }),
]
