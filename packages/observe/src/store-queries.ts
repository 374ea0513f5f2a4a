import type { Kysely } from 'kysely'
import { type LogQuery, listLogRecords } from './log-queries.ts'
import { findMetric, listMetricNames, type MetricQuery } from './metric-queries.ts'
import type { StoreBounds } from './observe-limits.ts'
import { ResponseBudget } from './response-budget.ts'
import { listServices } from './service-queries.ts'
import { storeStatus } from './status.ts'
import type { ObserveTables } from './tables.ts'
import { findTrace, listTraces, type TraceQuery } from './trace-queries.ts'

/** The questions that the store answers. */
export type StoreQuery =
  | { readonly kind: 'status' }
  | { readonly kind: 'services' }
  | { readonly kind: 'traces'; readonly filter: TraceQuery }
  | { readonly kind: 'trace'; readonly traceId: string; readonly maxSpans: number }
  | { readonly kind: 'metricNames'; readonly filter: { readonly service?: string | undefined; readonly limit: number } }
  | { readonly kind: 'metric'; readonly filter: MetricQuery }
  | { readonly kind: 'logRecords'; readonly filter: LogQuery }

export interface StoreResponse {
  readonly json: Uint8Array<ArrayBuffer>
  /** Whether the store has more than fits into the answer. */
  readonly isTruncated: boolean
}

/** The limit on the stored texts in one answer. */
const MAX_RESPONSE_BYTES = 32 * 1024 * 1024

/** Answers a query; `undefined` if nothing is stored under the id that it asks for. Blocks its thread during the query. */
export async function runStoreQuery(
  db: Kysely<ObserveTables>,
  query: StoreQuery,
  bounds: StoreBounds,
): Promise<StoreResponse | undefined> {
  const budget = new ResponseBudget(MAX_RESPONSE_BYTES)
  const found = await find(db, query, bounds, budget)
  if (found === undefined) return undefined
  return { json: new TextEncoder().encode(JSON.stringify(found)), isTruncated: budget.isTruncated }
}

function find(
  db: Kysely<ObserveTables>,
  query: StoreQuery,
  bounds: StoreBounds,
  budget: ResponseBudget,
): Promise<unknown> {
  switch (query.kind) {
    case 'status':
      return storeStatus(db, bounds)
    case 'services':
      return listServices(db, budget)
    case 'traces':
      return listTraces(db, query.filter, budget)
    case 'trace':
      return findTrace(db, query.traceId, query.maxSpans, budget)
    case 'metricNames':
      return listMetricNames(db, query.filter, budget)
    case 'metric':
      return findMetric(db, query.filter, budget)
    case 'logRecords':
      return listLogRecords(db, query.filter, budget)
  }
}
