import type { Kysely } from 'kysely'
import { type Page, type Position, type SearchedPage, toCursor } from './cursor.ts'
import { type CompareQuery, compareRuns, type InsightsQuery, readInsights } from './insights/insights-queries.ts'
import type { RunHistory } from './insights/run-history.ts'
import { type LiveQuery, readLive } from './live/live-queries.ts'
import { type LogQuery, listLogRecords } from './log-queries.ts'
import { findMetric, listMetricNames, type MetricNameQuery, type MetricQuery } from './metric-queries.ts'
import type { StoreBounds } from './observe-limits.ts'
import { findFacets, findRun, listRuns, type RunQuery } from './pipeline-queries.ts'
import { ResponseBudget } from './response-budget.ts'
import { listServices } from './service-queries.ts'
import { storeStatus } from './status.ts'
import type { ObserveTables } from './tables.ts'
import { listTraces, type TraceQuery } from './trace-queries.ts'
import { findTrace, type TraceSpansQuery } from './trace-spans.ts'

/** The questions that the store answers. */
export type StoreQuery =
  | { readonly kind: 'status' }
  | { readonly kind: 'services'; readonly after?: Position | undefined }
  | { readonly kind: 'runs'; readonly filter: RunQuery }
  | { readonly kind: 'run'; readonly traceId: string }
  | { readonly kind: 'facets'; readonly service?: string | undefined }
  | { readonly kind: 'traces'; readonly filter: TraceQuery }
  | ({ readonly kind: 'trace' } & TraceSpansQuery)
  | { readonly kind: 'metricNames'; readonly filter: MetricNameQuery }
  | { readonly kind: 'metric'; readonly filter: MetricQuery }
  | { readonly kind: 'logRecords'; readonly filter: LogQuery }
  | { readonly kind: 'live'; readonly query: LiveQuery }
  | { readonly kind: 'insights'; readonly filter: InsightsQuery }
  | { readonly kind: 'compare'; readonly filter: CompareQuery }

export interface StoreResponse {
  /** JSON; the text of events if the query is `live`. */
  readonly json: Uint8Array<ArrayBuffer>
  /** Whether the answer ends early, because the store has more than fits into one. */
  readonly isTruncated: boolean
  /** The cursor of the next page; `undefined` on the last one. */
  readonly nextCursor: string | undefined
}

/** The limit on the stored texts in one answer. */
const MAX_RESPONSE_BYTES = 32 * 1024 * 1024

interface Found {
  /** A value, or its JSON. */
  readonly value?: unknown
  readonly json?: Uint8Array<ArrayBuffer> | undefined
  readonly isTruncated?: boolean
  readonly nextCursor?: string | undefined
}

/** Answers a query; `undefined` if nothing is stored under the id that it asks for. Blocks its thread during the query. */
export async function runStoreQuery(
  db: Kysely<ObserveTables>,
  query: StoreQuery,
  bounds: StoreBounds,
  history: RunHistory,
): Promise<StoreResponse | undefined> {
  if (query.kind === 'live') {
    // Written as text on this thread, so that the one that serves the clients only passes it on.
    const { text, position, hasMore } = await readLive(db, query.query)
    return { json: new TextEncoder().encode(text), isTruncated: hasMore, nextCursor: position }
  }
  const budget = new ResponseBudget(MAX_RESPONSE_BYTES)
  const found = await find(db, query, bounds, history, budget)
  const { value, json = jsonBytes(value), nextCursor, isTruncated = budget.isTruncated } = found
  return json && { json, isTruncated, nextCursor }
}

/** Returns the JSON of a value; `undefined` if the value is. */
const jsonBytes = (value: unknown) =>
  value === undefined ? undefined : new TextEncoder().encode(JSON.stringify(value))

async function find(
  db: Kysely<ObserveTables>,
  query: Exclude<StoreQuery, { kind: 'live' }>,
  bounds: StoreBounds,
  history: RunHistory,
  budget: ResponseBudget,
): Promise<Found> {
  switch (query.kind) {
    case 'status':
      return { value: await storeStatus(db, bounds) }
    case 'services':
      return paged('services', await listServices(db, query.after, budget))
    case 'runs':
      return searched('pipelines', await listRuns(db, query.filter, budget))
    case 'run':
      return { value: await findRun(db, query.traceId) }
    case 'facets':
      return { value: await findFacets(db, query.service) }
    case 'traces':
      return paged('traces', await listTraces(db, query.filter, budget))
    case 'trace': {
      const found = await findTrace(db, query, budget)
      return { json: found?.json, nextCursor: found?.next && toCursor('trace', found.next) }
    }
    case 'metricNames':
      return paged('metric_names', await listMetricNames(db, query.filter, budget))
    case 'metric':
      return { value: await findMetric(db, query.filter, budget) }
    case 'logRecords':
      return searched('logs', await listLogRecords(db, query.filter, budget))
    case 'insights':
      return { value: await readInsights(history, query.filter) }
    case 'compare':
      return { value: await compareRuns(db, query.filter) }
  }
}

const paged = (list: string, { items, next }: Page<unknown>): Found => ({
  value: items,
  nextCursor: next && toCursor(list, next),
})

const searched = (list: string, { isLate, ...page }: SearchedPage<unknown>): Found => ({
  ...paged(list, page),
  ...(isLate && { isTruncated: true }),
})
