import { type Kysely, sql } from 'kysely'
import { inChunks } from './chunks.ts'
import type { Position } from './cursor.ts'
import { entryOf } from './map-entry.ts'
import type { ResponseBudget } from './response-budget.ts'
import type { ObserveTables } from './tables.ts'
import { exactText } from './time-range.ts'

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

/** The resources of a page with their scopes, and the ids of the spans of each scope, in order of start. */
type Groups = Map<number, Map<number, number[]>>

/**
 * Returns the JSON of a `StoredTrace` with spans in order of start, and the position of the last one; `undefined` if there are
 * none. The stored JSON of spans is joined and not parsed, because a page can have tens of megabytes.
 */
export async function findTrace(
  db: Kysely<ObserveTables>,
  { traceId, maxSpans, after }: TraceSpansQuery,
  budget: ResponseBudget,
): Promise<{ readonly json: string; readonly next: Position | undefined } | undefined> {
  const places = await spanPlaces(db, { traceId, maxSpans, after })
  if (places.length === 0) return undefined
  const documents = await documentsOf(db, new Set(places.flatMap((place) => [place.resource_id, place.scope_id])))
  // The documents of spans that were deleted a moment ago may be gone.
  const stored = places.filter((place) => documents.has(place.resource_id) && documents.has(place.scope_id))
  const groups: Groups = new Map()
  const ids: number[] = []
  let last: Position | undefined
  for (const { id, start_ns, bytes, resource_id, scope_id } of stored.slice(0, maxSpans)) {
    // The resource and the scope appear once, however many spans share them.
    const known = groups.get(resource_id)
    const resourceSize = known === undefined ? documents.get(resource_id)!.length : 0
    const scopeSize = known?.has(scope_id) ? 0 : documents.get(scope_id)!.length
    if (!budget.take(bytes + resourceSize + scopeSize)) break
    const scopes = entryOf(groups, resource_id, () => new Map<number, number[]>())
    entryOf(scopes, scope_id, () => []).push(id)
    ids.push(id)
    last = [start_ns, String(id)]
  }
  const truncated = places.length > maxSpans || budget.isTruncated
  const json = traceJson({ traceId, truncated, groups, documents, spans: await spansOf(db, ids) })
  return { json, next: truncated ? last : undefined }
}

/** Returns where the spans of a page are, and how long they are, without reading them. */
function spanPlaces(db: Kysely<ObserveTables>, { traceId, maxSpans, after }: TraceSpansQuery) {
  return db
    .selectFrom('spans')
    .select(['id', 'resource_id', 'scope_id', exactText('start_ns').as('start_ns')])
    .select(sql<number>`octet_length(json)`.as('bytes'))
    .where('trace_id', '=', traceId)
    .$if(after !== undefined, (select) => {
      const [start, id] = after!.map(BigInt)
      return select.where(sql<boolean>`(spans.start_ns, id) > (${start}, ${id})`)
    })
    .orderBy('spans.start_ns')
    .orderBy('id')
    .limit(maxSpans + 1)
    .execute()
}

async function documentsOf(db: Kysely<ObserveTables>, ids: ReadonlySet<number>): Promise<ReadonlyMap<number, string>> {
  const documents = new Map<number, string>()
  await inChunks([...ids], async (chunk) => {
    const rows = await db.selectFrom('documents').select(['id', 'json']).where('id', 'in', chunk).execute()
    for (const { id, json } of rows) documents.set(id, json)
  })
  return documents
}

async function spansOf(db: Kysely<ObserveTables>, ids: readonly number[]): Promise<ReadonlyMap<number, string>> {
  const spans = new Map<number, string>()
  await inChunks(ids, async (chunk) => {
    const rows = await db.selectFrom('spans').select(['id', 'json']).where('id', 'in', chunk).execute()
    for (const { id, json } of rows) spans.set(id, json)
  })
  return spans
}

interface TraceParts {
  readonly traceId: string
  readonly truncated: boolean
  readonly groups: Groups
  readonly documents: ReadonlyMap<number, string>
  readonly spans: ReadonlyMap<number, string>
}

function traceJson({ traceId, truncated, groups, documents, spans }: TraceParts): string {
  const resourceSpans = Array.from(groups, ([resourceId, scopes]) => {
    const scopeSpans = Array.from(scopes, ([scopeId, ids]) =>
      // A span that was deleted a moment ago is left out.
      withList(
        documents.get(scopeId)!,
        'spans',
        ids.flatMap((id) => spans.get(id) ?? []),
      ),
    )
    return withList(documents.get(resourceId)!, 'scopeSpans', scopeSpans)
  })
  const [id, isTruncated] = [JSON.stringify(traceId), JSON.stringify(truncated)]
  return `{"trace_id":${id},"resourceSpans":[${resourceSpans.join(',')}],"truncated":${isTruncated}}`
}

/** Adds a list to the JSON of an object. */
function withList(objectJson: string, key: string, items: readonly string[]): string {
  const before = objectJson === '{}' ? '{' : `${objectJson.slice(0, -1)},`
  return `${before}"${key}":[${items.join(',')}]}`
}
