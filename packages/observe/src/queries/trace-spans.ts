import { type Kysely, sql } from 'kysely'
import type { Position } from '../paging/cursor.ts'
import { JoinedBytes } from '../paging/joined-bytes.ts'
import { AnswerTooLarge, type ResponseBudget } from '../paging/response-budget.ts'
import { getOrCreate } from '../runs/map-entry.ts'
import { inChunks } from '../schema/chunks.ts'
import type { ObserveTables } from '../schema/tables.ts'
import { exactText } from '../schema/time-range.ts'

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

/** One page of a trace. */
export interface TraceSpansPage {
  /** The JSON of a `StoredTrace`. */
  readonly json: Uint8Array<ArrayBuffer>
  /** The position of the last span; `undefined` on the last page. */
  readonly next: Position | undefined
}

/** The resources of a page with their scopes, and the ids of the spans of each scope, in order of start. */
type Groups = Map<number, Map<number, number[]>>

/**
 * Returns the JSON of a `StoredTrace` with spans in order of start, and the position of the last one; `undefined` if there are
 * none. The stored bytes of spans are joined and neither parsed nor made into text, because a page can have tens of megabytes.
 */
export async function findTrace(
  db: Kysely<ObserveTables>,
  { traceId, maxSpans, after }: TraceSpansQuery,
  budget: ResponseBudget,
): Promise<TraceSpansPage | undefined> {
  const places = await spanPlaces(db, { traceId, maxSpans, after })
  if (places.length === 0) return undefined
  const documentBytes = await documentSizes(db, new Set(places.flatMap((place) => [place.resource_id, place.scope_id])))
  // The documents of spans that were deleted a moment ago may be gone.
  const stored = places.filter((place) => documentBytes.has(place.resource_id) && documentBytes.has(place.scope_id))
  const groups: Groups = new Map()
  const sizes = new Map<number, number>()
  let last: number | undefined
  for (const { id, bytes, resource_id, scope_id } of stored.slice(0, maxSpans)) {
    // The resource and the scope appear once, however many spans share them.
    const known = groups.get(resource_id)
    const resourceSize = known === undefined ? documentBytes.get(resource_id)! + GROUP_BYTES : 0
    const scopeSize = known?.has(scope_id) ? 0 : documentBytes.get(scope_id)! + GROUP_BYTES
    if (!budget.takeBytes(bytes + 1 + resourceSize + scopeSize)) {
      if (last !== undefined) break
      throw new AnswerTooLarge('spans', stored.length > 1 ? await positionOf(db, id) : undefined)
    }
    const scopes = getOrCreate(groups, resource_id, () => new Map<number, number[]>())
    getOrCreate(scopes, scope_id, () => []).push(id)
    sizes.set(id, bytes)
    last = id
  }
  const truncated = places.length > maxSpans || budget.isTruncated
  const shown = new Set([...groups].flatMap(([resource, scopes]) => [resource, ...scopes.keys()]))
  const documents = await documentsOf(db, shown)
  const json = traceJson({ traceId, truncated, groups, documents, spans: await spansOf(db, sizes) })
  return { json, next: truncated && last !== undefined ? await positionOf(db, last) : undefined }
}

/** Returns the position of a span; `undefined` if it was deleted a moment ago. */
async function positionOf(db: Kysely<ObserveTables>, id: number): Promise<Position | undefined> {
  const span = await db
    .selectFrom('spans')
    .select(exactText('start_ns').as('start_ns'))
    .where('id', '=', id)
    .executeTakeFirst()
  return span && [span.start_ns, String(id)]
}

/** Returns where the spans of a page are, and how long they are, without reading them. */
const spanPlaces = (db: Kysely<ObserveTables>, { traceId, maxSpans, after }: TraceSpansQuery) =>
  spansInOrder(db, traceId, after)
    .select(['id', 'resource_id', 'scope_id', 'json_bytes as bytes'])
    .limit(maxSpans + 1)
    .execute()

/** Returns the query of a trace's spans after a position, in order of start. */
export const spansInOrder = (db: Kysely<ObserveTables>, traceId: string, after: Position | undefined) =>
  db
    .selectFrom('spans')
    .where('trace_id', '=', traceId)
    .$if(after !== undefined, (select) => {
      const [start, id] = after!.map(BigInt)
      return select.where(sql<boolean>`(spans.start_ns, id) > (${start}, ${id})`)
    })
    .orderBy('spans.start_ns')
    .orderBy('id')

/** The bytes around the spans of a resource or of a scope. */
const GROUP_BYTES = 32

/** Returns the bytes of documents, without reading their texts. */
async function documentSizes(
  db: Kysely<ObserveTables>,
  ids: ReadonlySet<number>,
): Promise<ReadonlyMap<number, number>> {
  const sizes = new Map<number, number>()
  await inChunks([...ids], async (chunk) => {
    const rows = await db
      .selectFrom('documents')
      .select(['id', sql<number>`octet_length(json)`.as('bytes')])
      .where('id', 'in', chunk)
      .execute()
    for (const { id, bytes } of rows) sizes.set(id, bytes)
  })
  return sizes
}

async function documentsOf(db: Kysely<ObserveTables>, ids: ReadonlySet<number>): Promise<ReadonlyMap<number, string>> {
  const documents = new Map<number, string>()
  await inChunks([...ids], async (chunk) => {
    const rows = await db.selectFrom('documents').select(['id', 'json']).where('id', 'in', chunk).execute()
    for (const { id, json } of rows) documents.set(id, json)
  })
  return documents
}

/** The memory for a part stays in the cache of the processor. */
const SPANS_AT_ONCE = 100

/**
 * Returns the JSON of spans by their ids.
 *
 * @param sizes the ids and the numbers of bytes
 */
async function spansOf(
  db: Kysely<ObserveTables>,
  sizes: ReadonlyMap<number, number>,
): Promise<ReadonlyMap<number, Uint8Array>> {
  const spans = new Map<number, Uint8Array>()
  const readChunk = async (chunk: readonly number[]) => {
    // One row for many spans, because a value for each takes longer.
    const { rows } = await sql<{ bytes: Uint8Array | null; ids: string }>`
      select cast(group_concat(json, '') as blob) as bytes, json_group_array(id) as ids
      from spans where id in (select value from json_each(${JSON.stringify(chunk)}))`.execute(db)
    const { bytes, ids } = rows[0]!
    let from = 0
    for (const id of JSON.parse(ids) as number[]) {
      const to = from + sizes.get(id)!
      spans.set(id, bytes!.subarray(from, to))
      from = to
    }
  }
  await inChunks([...sizes.keys()], readChunk, SPANS_AT_ONCE)
  return spans
}

interface TraceParts {
  readonly traceId: string
  readonly truncated: boolean
  readonly groups: Groups
  readonly documents: ReadonlyMap<number, string>
  readonly spans: ReadonlyMap<number, Uint8Array>
}

function traceJson({ traceId, truncated, groups, documents, spans }: TraceParts): Uint8Array<ArrayBuffer> {
  const json = new JoinedBytes()
  json.add(`{"trace_id":${JSON.stringify(traceId)},"resourceSpans":[`)
  const isStored = ([id]: readonly [number, ...unknown[]]) => documents.has(id)
  json.addList([...groups].filter(isStored), ([resourceId, scopes]) => {
    json.add(withOpenList(documents.get(resourceId)!, 'scopeSpans'))
    json.addList([...scopes].filter(isStored), ([scopeId, ids]) => {
      json.add(withOpenList(documents.get(scopeId)!, 'spans'))
      // What was deleted a moment ago is left out.
      json.addList(
        ids.flatMap((id) => spans.get(id) ?? []),
        (span) => json.add(span),
      )
      json.add(']}')
    })
    json.add(']}')
  })
  json.add(`],"truncated":${JSON.stringify(truncated)}}`)
  return json.toBytes()
}

/** Returns the JSON of an object with one more key up to the beginning of its list. */
const withOpenList = (objectJson: string, key: string): string =>
  `${objectJson === '{}' ? '{' : `${objectJson.slice(0, -1)},`}"${key}":[`
