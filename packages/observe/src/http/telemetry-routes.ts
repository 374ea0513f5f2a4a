import { z } from 'zod'
import { type AttributeFilter, MAX_VALUE_LENGTH } from '../store/attribute-pairs.ts'
import { logFilter, toLogFilter } from './log-filter.ts'
import {
  atMost,
  cursorParameter,
  object,
  parsed,
  queryRoute,
  range,
  readNs,
  service,
  traceParams,
} from './query-route.ts'

const MAX_TRACES = 200
const MAX_SPANS = 10_000
const MAX_LOG_RECORDS = 1_000
const MAX_METRIC_NAMES = 1_000
/** Metrics of single pipelines have a series for each. */
const MAX_SERIES = 1_000
const MAX_POINTS = 1_000
const MAX_GROUPS = 50
const MAX_INTERVAL_SECONDS = 7 * 86_400

const list = z.array(object)

const MAX_ATTRIBUTES = 10
const attributeForm = `key=value, where the value has at most ${MAX_VALUE_LENGTH} characters`
const attribute = parsed(attributeForm, (text): AttributeFilter | undefined => {
  const end = text.indexOf('=')
  const value = text.slice(end + 1)
  return end > 0 && value.length <= MAX_VALUE_LENGTH ? { key: text.slice(0, end), value } : undefined
})

export const statusRoutes = [
  queryRoute({
    path: '/status',
    operationId: 'observeStatus',
    summary: 'Purpose, limits and usage of the store',
    answer: object,
    toStoreQuery: () => ({ kind: 'status' }),
  }),
  queryRoute({
    path: '/services',
    operationId: 'listObservedServices',
    summary: 'Services by name',
    answer: list,
    query: z.strictObject({ cursor: cursorParameter('services', ['text']) }),
    toStoreQuery: ({ cursor }) => ({ kind: 'services', after: cursor }),
  }),
]

export const traceRoutes = [
  queryRoute({
    path: '/traces',
    operationId: 'listObservedTraces',
    summary: 'Traces, the latest first',
    description:
      'A search by attributes reads at most 20,000 spans for one page. A page that ends there has fewer traces than its limit, possibly none, and a cursor to continue.',
    answer: list,
    query: z.strictObject({
      ...range,
      service,
      attribute: z
        .union([attribute, z.array(attribute).min(1).max(MAX_ATTRIBUTES)])
        .optional()
        .meta({ description: 'key=value; repeated, one span has all of them, itself or in its resource' }),
      min_duration_ns: parsed('nanoseconds', readNs).optional(),
      status: z.enum(['error']).optional().meta({ description: 'Only traces with a span that has the status error' }),
      limit: atMost(MAX_TRACES).optional(),
      cursor: cursorParameter('traces', ['integer', 'id']),
    }),
    toStoreQuery: ({ since, until, service, attribute = [], min_duration_ns, status, cursor, limit = 20 }) => ({
      kind: 'traces',
      filter: {
        sinceNs: since,
        untilNs: until,
        service,
        attributes: [attribute].flat(),
        minDurationNs: min_duration_ns,
        hasErrors: status === 'error',
        after: cursor,
        limit,
      },
    }),
  }),
  queryRoute({
    path: '/traces/:trace_id',
    operationId: 'getObservedTrace',
    summary: 'One trace as OTLP/JSON, 10,000 spans a page',
    answer: object,
    query: z.strictObject({
      limit: atMost(MAX_SPANS).optional(),
      cursor: cursorParameter('trace', ['integer', 'integer']),
    }),
    params: traceParams,
    refusals: { 404: { description: 'No span of this trace is stored' } },
    toStoreQuery: ({ cursor, limit = MAX_SPANS }, { trace_id }) => ({
      kind: 'trace',
      traceId: trace_id,
      maxSpans: limit,
      after: cursor,
    }),
  }),
]

export const metricRoutes = [
  queryRoute({
    path: '/metric_names',
    operationId: 'listObservedMetricNames',
    summary: 'Metrics by name',
    answer: list,
    query: z.strictObject({
      service,
      limit: atMost(MAX_METRIC_NAMES).optional(),
      cursor: cursorParameter('metric_names', ['text', 'text', 'text']),
    }),
    toStoreQuery: ({ service, cursor, limit = MAX_METRIC_NAMES }) => ({
      kind: 'metricNames',
      filter: { service, after: cursor, limit },
    }),
  }),
  queryRoute({
    path: '/metrics',
    operationId: 'getObservedMetric',
    summary: 'Series of one metric, with their points',
    answer: object,
    query: z.strictObject({
      ...range,
      name: z.string().min(1),
      service,
      series: atMost(MAX_SERIES).optional(),
      limit: atMost(MAX_POINTS).optional(),
    }),
    toStoreQuery: ({ since, until, name, service, series = 20, limit = MAX_POINTS }) => ({
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
  }),
  queryRoute({
    path: '/metric_intervals',
    operationId: 'getObservedMetricIntervals',
    summary: 'Counters and histograms of one metric by interval, added up over series',
    description:
      'Sums of counters, or quantiles of the observations of histograms. A cumulative series is counted by its increase. With `group_by`, each value of that attribute is a group. Without it, the series with the same service and attributes are a group; if there are more such groups than `groups`, all series are one group.',
    answer: object,
    query: z.strictObject({
      ...range,
      name: z.string().min(1),
      service,
      group_by: z.string().min(1).max(1_000).optional().meta({ description: 'The key of an attribute' }),
      interval_seconds: atMost(MAX_INTERVAL_SECONDS).optional(),
      groups: atMost(MAX_GROUPS).optional(),
    }),
    toStoreQuery: ({ since, until, name, service, group_by, interval_seconds = 3_600, groups = 6 }) => ({
      kind: 'metricIntervals',
      filter: {
        sinceNs: since,
        untilNs: until,
        name,
        service,
        groupBy: group_by,
        intervalSeconds: interval_seconds,
        maxGroups: groups,
      },
    }),
  }),
]

export const logRoutes = [
  queryRoute({
    path: '/logs',
    operationId: 'listObservedLogs',
    summary: 'Log records, the latest first',
    description:
      'With `q` or `span_id`, a page ends after some tenths of a second, with `X-Truncated` and a cursor for the rest of the range.',
    answer: list,
    query: z.strictObject({
      ...range,
      ...logFilter,
      limit: atMost(MAX_LOG_RECORDS).optional(),
      cursor: cursorParameter('logs', ['integer', 'integer']),
    }),
    toStoreQuery: ({ since, until, cursor, limit = 100, ...filter }) => ({
      kind: 'logRecords',
      filter: { ...toLogFilter(filter), sinceNs: since, untilNs: until, after: cursor, limit },
    }),
  }),
]
