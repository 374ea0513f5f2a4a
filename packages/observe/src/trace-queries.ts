import type { Db } from '@penstock/db'
import { sql } from 'kysely'
import { WHOLE_TRACE } from './arrival-store.ts'
import { findServiceId } from './service-queries.ts'
import type { ObserveTables } from './tables.ts'
import { exactText, rangeEnds, type TimeRange } from './time-range.ts'

export interface TraceQuery extends TimeRange {
  /** Traces in which this service has a span; the range is then that of its own first span. */
  readonly service?: string | undefined
  readonly limit: number
}

export interface TraceSummary {
  readonly trace_id: string
  readonly start_time_unix_nano: string
  /** Of the span that ends last. */
  readonly end_time_unix_nano: string
  /** Received in all; the oldest of them may be gone already. */
  readonly spans: number
  readonly errors: number
  readonly services: readonly string[]
  /** The earliest span without parent; `null` while none has come. */
  readonly root: { readonly name: string; readonly service: string; readonly status_code: number } | null
}

/** Those that started last come first. */
export async function listTraces(db: Db<ObserveTables>, query: TraceQuery): Promise<TraceSummary[]> {
  const serviceId = query.service === undefined ? WHOLE_TRACE : await findServiceId(db, query.service)
  if (serviceId === undefined) return []
  const { sinceNs, untilNs } = rangeEnds(query)
  const traces = await db.read
    .selectFrom('trace_parts as part')
    .innerJoin('trace_parts as whole', (join) =>
      join.onRef('whole.trace_id', '=', 'part.trace_id').on('whole.service_id', '=', WHOLE_TRACE),
    )
    .select([
      'part.trace_id',
      exactText('whole.first_ns').as('start_time_unix_nano'),
      exactText('whole.last_ns').as('end_time_unix_nano'),
      'whole.spans',
      'whole.errors',
    ])
    .where('part.service_id', '=', serviceId)
    .where('part.first_ns', '>=', sinceNs)
    .where('part.first_ns', '<', untilNs)
    .orderBy('part.first_ns', 'desc')
    .limit(query.limit)
    .execute()
  const ids = traces.map(({ trace_id }) => trace_id)
  const services = await servicesOf(db, ids)
  const roots = await rootsOf(db, ids)
  return traces.map((trace) => ({
    ...trace,
    services: services.get(trace.trace_id) ?? [],
    root: roots.get(trace.trace_id) ?? null,
  }))
}

async function servicesOf(db: Db<ObserveTables>, traceIds: readonly string[]): Promise<Map<string, string[]>> {
  const byTrace = new Map<string, string[]>()
  if (traceIds.length === 0) return byTrace
  const rows = await db.read
    .selectFrom('trace_parts')
    .innerJoin('services', 'services.id', 'trace_parts.service_id')
    .select(['trace_id', 'services.key as name'])
    .where('trace_id', 'in', traceIds)
    .orderBy('services.key')
    .execute()
  for (const { trace_id, name } of rows) byTrace.set(trace_id, [...(byTrace.get(trace_id) ?? []), name])
  return byTrace
}

async function rootsOf(db: Db<ObserveTables>, traceIds: readonly string[]) {
  const byTrace = new Map<string, NonNullable<TraceSummary['root']>>()
  if (traceIds.length === 0) return byTrace
  const rows = await db.read
    .selectFrom('spans')
    .innerJoin('services', 'services.id', 'spans.service_id')
    .select(['trace_id', 'name', 'services.key as service', 'status_code'])
    .where('trace_id', 'in', traceIds)
    // Spelt out, not bound: the index of roots is for this very condition.
    .where(sql<boolean>`parent_span_id = ''`)
    .orderBy('start_ns', 'desc')
    .execute()
  for (const { trace_id, ...root } of rows) byTrace.set(trace_id, root)
  return byTrace
}

/** A trace as OTLP/JSON's TracesData, so that whatever reads OTLP can read it. */
export interface StoredTrace {
  readonly trace_id: string
  readonly resourceSpans: readonly object[]
  /** There are more spans than are shown; these are the first. */
  readonly truncated: boolean
}

/** `undefined` when nothing of it is kept. */
export async function findTrace(
  db: Db<ObserveTables>,
  traceId: string,
  maxSpans: number,
): Promise<StoredTrace | undefined> {
  const rows = await db.read
    .selectFrom('spans')
    .innerJoin('documents as resource', 'resource.id', 'spans.resource_id')
    .innerJoin('documents as scope', 'scope.id', 'spans.scope_id')
    .select(['spans.json', 'resource_id', 'scope_id', 'resource.json as resource_json', 'scope.json as scope_json'])
    .where('trace_id', '=', traceId)
    .orderBy('start_ns')
    .orderBy('spans.id')
    .limit(maxSpans + 1)
    .execute()
  if (rows.length === 0) return undefined
  const resources = new Map<number, { json: string; scopes: Map<number, { json: string; spans: object[] }> }>()
  for (const row of rows.slice(0, maxSpans)) {
    const resource = entryOf(resources, row.resource_id, () => ({ json: row.resource_json, scopes: new Map() }))
    const scope = entryOf(resource.scopes, row.scope_id, () => ({ json: row.scope_json, spans: [] }))
    scope.spans.push(JSON.parse(row.json))
  }
  const resourceSpans = [...resources.values()].map(({ json, scopes }) => ({
    ...JSON.parse(json),
    scopeSpans: [...scopes.values()].map((scope) => ({ ...JSON.parse(scope.json), spans: scope.spans })),
  }))
  return { trace_id: traceId, resourceSpans, truncated: rows.length > maxSpans }
}

function entryOf<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  const known = map.get(key)
  if (known !== undefined) return known
  const made = make()
  map.set(key, made)
  return made
}
