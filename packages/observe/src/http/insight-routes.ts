import { systemClock } from '@penstock/runtime'
import { z } from 'zod'
import { comparisonShape, insightsShape } from './insights-shapes.ts'
import { runFilter } from './pipeline-routes.ts'
import { atMost, queryRoute, traceId } from './query-route.ts'

const NS_PER_MS = 1_000_000n
const MAX_RANGE_NS = 400n * 86_400_000n * NS_PER_MS
/** The highest number of entries of a list that a client can ask for. */
const MAX_ENTRIES = 500
/** The zone that is farthest from UTC. */
const MAX_OFFSET_MINUTES = 14 * 60

const insightsQuery = z
  .strictObject({
    ...runFilter,
    timezone_offset_minutes: z
      .string()
      .regex(/^-?\d{1,3}$/)
      .transform(Number)
      .pipe(z.int().min(-MAX_OFFSET_MINUTES).max(MAX_OFFSET_MINUTES))
      .optional()
      .meta({ description: "How far the viewer's clock is ahead of UTC. Days begin at its midnight." }),
    limit: atMost(MAX_ENTRIES)
      .optional()
      .meta({ description: 'The highest number of entries in each list of jobs and of minutes; 50 by default' }),
  })
  .refine(({ since, until }) => since === undefined || isRange(since, until ?? nowNs()), {
    path: ['since'],
    params: { expected: 'a time before until, and at most 400 days before it' },
  })

const nowNs = (): bigint => BigInt(systemClock.nowMs()) * NS_PER_MS
const isRange = (since: bigint, until: bigint): boolean => since < until && until - since <= MAX_RANGE_NS

export const insightRoutes = [
  queryRoute({
    path: '/insights',
    operationId: 'getPipelineInsights',
    summary: 'Percentiles, failures, rankings of jobs and findings of a time range',
    description:
      'The range is the last seven days unless it is given. Statistics of runs leave out child pipelines; those of jobs include them.',
    answer: insightsShape,
    query: insightsQuery,
    toStoreQuery: ({ since, until, timezone_offset_minutes: offsetMinutes = 0, ...filter }) => ({
      kind: 'insights',
      filter: { ...filter, sinceNs: since, untilNs: until, offsetMinutes },
    }),
  }),
  queryRoute({
    path: '/compare',
    operationId: 'compareObservedPipelines',
    summary: 'Two pipeline runs, or a run and what is usual for it, job by job',
    description:
      'The median is that of the last 20 successful runs before `a` with the same service, project, kind of ref, name and trigger.',
    answer: comparisonShape,
    query: z.strictObject({ a: traceId, b: z.union([z.literal('median'), traceId]) }),
    refusals: { 404: { description: 'No pipeline run with one of these trace ids is stored' } },
    toStoreQuery: (filter) => ({ kind: 'compare', filter }),
  }),
]
