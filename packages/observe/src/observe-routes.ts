import type { Reply, ResponseRow, Route, RouteRequest } from '@penstock/http'
import { z } from 'zod'
import type { Observe } from './observe.ts'
import type { StoreQuery } from './store-queries.ts'
import { ThreadUnavailable } from './store-thread.ts'

export interface ObserveMount<Access> {
  readonly store: Pick<Observe, 'answer'>
  /** The access that every route requires. */
  readonly access: Access
  /** Returns the parsed input, or throws the API's own error. */
  parse<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema>
  /** Returns the API's own error for a store that cannot answer at the moment. */
  unavailable(): Error
  /** Returns the API's own error for a trace without stored spans. */
  traceNotFound(): Error
}

/** The header of a list that ends early because the rest does not fit into one answer. */
const TRUNCATED_HEADER = 'X-Truncated'

/** The path prefix of the routes. */
export const observePath = '/api/v1/observe'

const NS_PER_MS = 1_000_000n
const MAX_NS = 2n ** 63n - 1n
const MAX_TRACES = 200
const MAX_SPANS = 10_000
const MAX_LOG_RECORDS = 1_000
const MAX_METRIC_NAMES = 1_000
const MAX_SERIES = 100
const MAX_POINTS = 1_000

const timeForm = 'RFC 3339 with a zone, such as 2026-02-01T00:00:00Z, or nanoseconds since 1970'
const rfc3339 = z.iso.datetime({ offset: true })

/** Accepts nanoseconds since 1970 too, because responses contain times in that form. */
const time = z
  .string()
  .meta({ description: timeForm })
  .transform((text, context) => {
    const ns = readTimeNs(text)
    if (ns !== undefined) return ns
    context.addIssue({ code: 'custom', params: { expected: timeForm } })
    return z.NEVER
  })

/** Reads a time in RFC 3339 or in nanoseconds; `undefined` for other texts, and for times beyond the store's integers. */
function readTimeNs(text: string): bigint | undefined {
  if (rfc3339.safeParse(text).success) return BigInt(Date.parse(text)) * NS_PER_MS
  if (!/^\d{1,19}$/.test(text)) return undefined
  const ns = BigInt(text)
  return ns <= MAX_NS ? ns : undefined
}

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
 * Returns the HTTP routes for queries. All are GET and change nothing. Keys defined here are snake_case, times are nanoseconds
 * as text, and telemetry is OTLP/JSON.
 */
export function observeRoutes<Context, Access>({
  store,
  access,
  parse,
  unavailable,
  traceNotFound,
}: ObserveMount<Access>): readonly Route<Context, Access>[] {
  const nothing = z.strictObject({})
  const ask = (query: StoreQuery) =>
    store.answer(query).catch((error: unknown) => {
      throw error instanceof ThreadUnavailable ? unavailable() : error
    })

  function route<Query extends z.ZodObject>(
    path: string,
    [operationId, summary]: readonly [string, string],
    answer: z.ZodType,
    query: Query,
    toStoreQuery: (query: z.output<Query>, request: RouteRequest) => StoreQuery,
    more: { readonly params?: z.ZodType; readonly refusals?: Readonly<Record<number, ResponseRow>> } = {},
  ): Route<Context, Access> {
    const responses = {
      200: { description: summary, body: answer },
      400: { description: 'Bad query' },
      503: { description: 'The store has too many queries, or had to be restarted' },
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
        const found = await ask(toStoreQuery(parse(query, request.query), request))
        if (found === undefined) throw traceNotFound()
        return {
          status: 200,
          content: found.json,
          contentType: 'application/json; charset=utf-8',
          ...(found.isTruncated && { headers: { [TRUNCATED_HEADER]: 'true' } }),
        }
      },
    }
  }

  return [
    route('/status', ['observeStatus', 'Purpose, limits and usage of the store'], object, nothing, () => ({
      kind: 'status',
    })),
    route('/services', ['listObservedServices', 'Services by name'], list, nothing, () => ({ kind: 'services' })),
    route(
      '/traces',
      ['listObservedTraces', 'Traces, the latest first'],
      list,
      z.strictObject({ ...range, service, limit: atMost(MAX_TRACES).optional() }),
      ({ since, until, service, limit = 20 }) => ({
        kind: 'traces',
        filter: { sinceNs: since, untilNs: until, service, limit },
      }),
    ),
    route(
      '/traces/:trace_id',
      ['getObservedTrace', 'One trace as OTLP/JSON'],
      object,
      nothing,
      (_, { params }) => ({ kind: 'trace', traceId: parse(traceParams, params).trace_id, maxSpans: MAX_SPANS }),
      { params: traceParams, refusals: { 404: { description: 'No span of this trace is stored' } } },
    ),
    route(
      '/metric_names',
      ['listObservedMetricNames', 'Metrics by name'],
      list,
      z.strictObject({ service, limit: atMost(MAX_METRIC_NAMES).optional() }),
      ({ service, limit = MAX_METRIC_NAMES }) => ({ kind: 'metricNames', filter: { service, limit } }),
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
      ({ since, until, name, service, series = 20, limit = MAX_POINTS }) => ({
        kind: 'metric',
        filter: {
          sinceNs: since,
          untilNs: until,
          name,
          service,
          maxSeries: series,
          maxPointsPerSeries: limit,
        },
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
      ({ since, until, service, severity, trace_id, limit = 100 }) => ({
        kind: 'logRecords',
        filter: {
          sinceNs: since,
          untilNs: until,
          service,
          minSeverity: severity && severities[severity],
          traceId: trace_id,
          limit,
        },
      }),
    ),
  ]
}

const traceParams = z.strictObject({ trace_id: traceId })
