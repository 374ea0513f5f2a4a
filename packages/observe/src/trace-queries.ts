import { type Kysely, sql } from 'kysely'
import { WHOLE_TRACE } from './arrival-store.ts'
import type { Page, Position } from './cursor.ts'
import { entryOf } from './map-entry.ts'
import type { ResponseBudget } from './response-budget.ts'
import { findServiceId } from './service-queries.ts'
import type { ObserveTables } from './tables.ts'
import { searchTraces, type TraceFilter } from './trace-search.ts'

export interface TraceQuery extends TraceFilter {
  readonly limit: number
  readonly after?: Position | undefined
}

export interface TraceSummary {
  readonly trace_id: string
  readonly start_time_unix_nano: string
  /** The end of the span that ends last. */
  readonly end_time_unix_nano: string
  /** The number of spans received; the oldest of them may have been deleted. */
  readonly spans: number
  readonly errors: number
  readonly services: readonly string[]
  /** The earliest span without a parent; `null` until one arrives. */
  readonly root: { readonly name: string; readonly service: string; readonly status_code: number } | null
}

/** Returns traces, the latest start first. */
export async function listTraces(
  db: Kysely<ObserveTables>,
  query: TraceQuery,
  budget: ResponseBudget,
): Promise<Page<TraceSummary>> {
  const serviceId = query.service === undefined ? WHOLE_TRACE : await findServiceId(db, query.service)
  if (serviceId === undefined) return { items: [], next: undefined }
  const page = await searchTraces(db, serviceId, query, { limit: query.limit, after: query.after })
  const ids = page.items.map(({ trace_id }) => trace_id)
  const services = await servicesOf(db, ids, budget)
  const roots = await rootsOf(db, ids, budget)
  const items = page.items.map(({ position_ns: _, ...trace }) => ({
    ...trace,
    services: services.get(trace.trace_id) ?? [],
    root: roots.get(trace.trace_id) ?? null,
  }))
  return { ...page, items }
}

async function servicesOf(
  db: Kysely<ObserveTables>,
  traceIds: readonly string[],
  budget: ResponseBudget,
): Promise<Map<string, string[]>> {
  const byTrace = new Map<string, string[]>()
  if (traceIds.length === 0) return byTrace
  const rows = db
    .selectFrom('trace_parts')
    .innerJoin('services', 'services.id', 'trace_parts.service_id')
    .select(['trace_id', 'services.key as name'])
    .where('trace_id', 'in', traceIds)
    .orderBy('services.key')
  for await (const { trace_id, name } of budget.rows(rows)) entryOf(byTrace, trace_id, () => []).push(name)
  return byTrace
}

async function rootsOf(db: Kysely<ObserveTables>, traceIds: readonly string[], budget: ResponseBudget) {
  const byTrace = new Map<string, NonNullable<TraceSummary['root']>>()
  if (traceIds.length === 0) return byTrace
  const rows = db
    .selectFrom('spans')
    .innerJoin('services', 'services.id', 'spans.service_id')
    .select(['trace_id', 'name', 'services.key as service', 'status_code'])
    .where('trace_id', 'in', traceIds)
    // Written as a literal, because the partial index of roots has this condition.
    .where(sql<boolean>`parent_span_id = ''`)
    .orderBy('start_ns')
  const isNew = ({ trace_id }: { trace_id: string }) => !byTrace.has(trace_id)
  const sizeOf = (row: { trace_id: string; name: string; service: string }) =>
    isNew(row) ? row.name.length + row.service.length : 0
  for await (const row of budget.rows(rows, sizeOf)) {
    const { trace_id, ...root } = row
    if (isNew(row)) byTrace.set(trace_id, root)
  }
  return byTrace
}
