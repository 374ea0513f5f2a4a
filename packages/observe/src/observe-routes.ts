import { type Reply, RequestProblem, type ResponseRow, type Route, type RouteRequest } from '@penstock/http'
import { z } from 'zod'
import type { Observe } from './observe.ts'

export interface ObserveMount<Access> {
  readonly store: Observe
  /** Who may ask; the same of every route. */
  readonly access: Access
  /** Checks what came, and refuses it in the API's own form by throwing. */
  parse<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema>
}

/** Where the routes are served, below the mount's own origin. */
export const observePath = '/api/v1/observe'

const NS_PER_MS = 1_000_000n
const MAX_NS = 2n ** 63n - 1n
const MAX_TRACES = 200
const MAX_SPANS = 10_000
const MAX_LOG_RECORDS = 1_000
const MAX_METRIC_NAMES = 1_000
const MAX_SERIES = 100
const MAX_POINTS = 1_000

/** RFC 3339 with zone, or nanoseconds since 1970: answers give times so, and can be asked with. */
const time = z.union([
  z
    .string()
    .regex(/^\d{1,19}$/)
    .transform(BigInt)
    .refine((ns) => ns <= MAX_NS),
  z.iso.datetime({ offset: true }).transform((text) => BigInt(Date.parse(text)) * NS_PER_MS),
])
const range = { since: time.optional(), until: time.optional() }
const service = z.string().min(1).optional()
const traceId = z
  .string()
  .regex(/^[0-9a-fA-F]{32}$/)
  .transform((id) => id.toLowerCase())

const atMost = (max: number) =>
  z
    .string()
    .regex(/^\d{1,6}$/)
    .transform(Number)
    .pipe(z.int().min(1).max(max))

/** Name → the first of OTLP's four severity numbers of that name. */
const severities = { trace: 1, debug: 5, info: 9, warn: 13, error: 17, fatal: 21 } as const

const object = z.looseObject({})
const list = z.array(object)

/**
 * What the store is asked over HTTP. All are GET and change nothing. Keys of ours are snake_case, times are nanoseconds
 * as text, and telemetry itself is OTLP/JSON.
 */
export function observeRoutes<Context, Access>({
  store,
  access,
  parse,
}: ObserveMount<Access>): readonly Route<Context, Access>[] {
  const nothing = z.strictObject({})

  function route<Query extends z.ZodObject>(
    path: string,
    [operationId, summary]: readonly [string, string],
    answer: z.ZodType,
    query: Query,
    find: (query: z.output<Query>, request: RouteRequest) => Promise<unknown>,
    more: { readonly params?: z.ZodType; readonly refusals?: Readonly<Record<number, ResponseRow>> } = {},
  ): Route<Context, Access> {
    const responses = {
      200: { description: summary, body: answer },
      400: { description: 'Bad query' },
      ...more.refusals,
    }
    return {
      method: 'GET',
      path: `${observePath}${path}`,
      access,
      query,
      ...(more.params && { params: more.params }),
      documentation: { operationId, tag: 'observe', summary, responses },
      async handle(request): Promise<Reply> {
        return { status: 200, json: await find(parse(query, request.query), request) }
      },
    }
  }

  return [
    route('/status', ['observeStatus', 'What the store is, and how full'], object, nothing, () => store.status()),
    route('/services', ['listObservedServices', 'Services by name'], list, nothing, () => store.services()),
    route(
      '/traces',
      ['listObservedTraces', 'Traces, the latest first'],
      list,
      z.strictObject({ ...range, service, limit: atMost(MAX_TRACES).optional() }),
      ({ since, until, service, limit = 20 }) => store.traces({ sinceNs: since, untilNs: until, service, limit }),
    ),
    route(
      '/traces/:trace_id',
      ['getObservedTrace', 'One trace as OTLP/JSON'],
      object,
      nothing,
      async (_, { params }) => {
        const trace = await store.trace(parse(traceParams, params).trace_id, MAX_SPANS)
        if (trace === undefined) throw new RequestProblem({ kind: 'not_found' })
        return trace
      },
      { params: traceParams, refusals: { 404: { description: 'Nothing of this trace is kept' } } },
    ),
    route(
      '/metric_names',
      ['listObservedMetricNames', 'Metrics by name'],
      list,
      z.strictObject({ service, limit: atMost(MAX_METRIC_NAMES).optional() }),
      ({ service, limit = MAX_METRIC_NAMES }) => store.metricNames({ service, limit }),
    ),
    route(
      '/metrics',
      ['getObservedMetric', 'Series of one metric, with their points'],
      object,
      z.strictObject({
        ...range,
        name: z.string().min(1),
        service,
        series: atMost(MAX_SERIES).optional(),
        limit: atMost(MAX_POINTS).optional(),
      }),
      ({ since, until, name, service, series = 20, limit = MAX_POINTS }) =>
        store.metric({
          sinceNs: since,
          untilNs: until,
          name,
          service,
          maxSeries: series,
          maxPointsPerSeries: limit,
        }),
    ),
    route(
      '/logs',
      ['listObservedLogs', 'Log records, the latest first'],
      list,
      z.strictObject({
        ...range,
        service,
        severity: z.enum(Object.keys(severities) as (keyof typeof severities)[]).optional(),
        trace_id: traceId.optional(),
        limit: atMost(MAX_LOG_RECORDS).optional(),
      }),
      ({ since, until, service, severity, trace_id, limit = 100 }) =>
        store.logRecords({
          sinceNs: since,
          untilNs: until,
          service,
          minSeverity: severity && severities[severity],
          traceId: trace_id,
          limit,
        }),
    ),
  ]
}

const traceParams = z.strictObject({ trace_id: traceId })
