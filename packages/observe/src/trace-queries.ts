import { type Kysely, sql } from 'kysely'
import { WHOLE_TRACE } from './arrival-store.ts'
import type { Page, Position } from './cursor.ts'
import type { ResponseBudget } from './response-budget.ts'
import { findServiceId } from './service-queries.ts'
import type { ObserveTables } from './tables.ts'
import { exactText } from './time-range.ts'
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

/** A trace as TracesData in OTLP/JSON, which every OTLP reader can parse. */
export interface StoredTrace {
  readonly trace_id: string
  readonly resourceSpans: readonly object[]
  /** Whether the trace has more spans, on further pages. */
  readonly truncated: boolean
}

export interface TraceSpansQuery {
  readonly traceId: string
  readonly maxSpans: number
  readonly after?: Position | undefined
}

interface Group {
  readonly json: string
  readonly scopes: Map<number, { readonly json: string; readonly spans: object[] }>
}

/** Returns the spans of a trace in order of start, and the position of the last one; `undefined` if there are none. */
export async function findTrace(
  db: Kysely<ObserveTables>,
  { traceId, maxSpans, after }: TraceSpansQuery,
  budget: ResponseBudget,
): Promise<{ readonly trace: StoredTrace; readonly next: Position | undefined } | undefined> {
  const query = db
    .selectFrom('spans')
    .innerJoin('documents as resource', 'resource.id', 'spans.resource_id')
    .innerJoin('documents as scope', 'scope.id', 'spans.scope_id')
    .select(['spans.json', 'resource_id', 'scope_id', 'resource.json as resource_json', 'scope.json as scope_json'])
    .select(['spans.id', exactText('start_ns').as('start_ns')])
    .where('trace_id', '=', traceId)
    .$if(after !== undefined, (select) => {
      const [start, id] = after!.map(BigInt)
      return select.where(sql<boolean>`(start_ns, spans.id) > (${start}, ${id})`)
    })
    .orderBy('start_ns')
    .orderBy('spans.id')
    .limit(maxSpans + 1)
  const resources = new Map<number, Group>()
  let spans = 0
  let last: Position | undefined
  // The resource and the scope appear once, however many spans share them.
  const rows = budget.rows(query, ({ json, resource_id, resource_json, scope_id, scope_json }) => {
    const resource = resources.get(resource_id)
    const resourceSize = resource === undefined ? resource_json.length : 0
    return json.length + resourceSize + (resource?.scopes.has(scope_id) ? 0 : scope_json.length)
  })
  for await (const row of rows) {
    spans += 1
    if (spans > maxSpans) break
    last = [row.start_ns, String(row.id)]
    const resource = entryOf(resources, row.resource_id, () => ({ json: row.resource_json, scopes: new Map() }))
    const scope = entryOf(resource.scopes, row.scope_id, () => ({ json: row.scope_json, spans: [] }))
    scope.spans.push(JSON.parse(row.json))
  }
  if (spans === 0) return undefined
  const resourceSpans = [...resources.values()].map(({ json, scopes }) => ({
    ...JSON.parse(json),
    scopeSpans: [...scopes.values()].map((scope) => ({ ...JSON.parse(scope.json), spans: scope.spans })),
  }))
  const truncated = spans > maxSpans || budget.isTruncated
  return { trace: { trace_id: traceId, resourceSpans, truncated }, next: truncated ? last : undefined }
}

function entryOf<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  const known = map.get(key)
  if (known !== undefined) return known
  const made = make()
  map.set(key, made)
  return made
}
