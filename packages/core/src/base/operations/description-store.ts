import { sql } from 'kysely'
import { z } from 'zod'
import { chunked } from '../kit/chunked.ts'
import type { ReadContext } from '../kit/store-context.ts'
import type { CoreTables } from '../kit/tables.ts'
import { type BatchQuery, unscopedBatchQuery } from './operation.ts'

/** A thing with a description. Descriptions can be long, so lists read them only if they show them. */
export interface Described {
  readonly description: string | undefined
}

/** A row with its description. Lists select that column only if they show it. */
export type DescribedRow<Row> = Row & { readonly description: string | null }

/** Tables of things that have an id and a description. */
type DescribedTable = {
  [Table in keyof CoreTables]: CoreTables[Table] extends { description: string | null } ? Table : never
}[keyof CoreTables]

/** Returns the things with their descriptions, by id. */
export async function describedThings<Thing extends { readonly id: number }>(
  { db }: ReadContext,
  table: DescribedTable,
  things: readonly Thing[],
): Promise<ReadonlyMap<number, Thing & Described>> {
  if (things.length === 0) return new Map()
  const ids = things.map(({ id }) => id)
  const rows = await db.selectFrom(table).select(['id', 'description']).where('id', 'in', ids).execute()
  const descriptions = new Map(rows.map(({ id, description }) => [id, description ?? undefined]))
  return new Map(things.map((thing) => [thing.id, { ...thing, description: descriptions.get(thing.id) }]))
}

/** The input of a query for descriptions: the total size of the result is limited. */
export const descriptionsInput = z.object({ maxBytes: z.int().min(0) })

export interface SizedDescription extends Described {
  /** The length in UTF-8. */
  readonly bytes: number
}

/**
 * Returns the descriptions of the first things that fit into `maxBytes`. A caller who sees a thing may read its description.
 */
export const descriptionsOfEach = <Thing extends { readonly id: number }>(
  name: string,
  table: DescribedTable,
): BatchQuery<typeof descriptionsInput, Thing, SizedDescription | undefined> =>
  textsOfEach(name, { table, column: 'description' })

/** Like `descriptionsOfEach`, for a long text in another column. */
export const textsOfEach = <Thing extends { readonly id: number }>(
  name: string,
  source: TextColumn,
): BatchQuery<typeof descriptionsInput, Thing, SizedDescription | undefined> =>
  unscopedBatchQuery({ name, input: descriptionsInput }, (context, things: readonly Thing[], { maxBytes }) => {
    const ids = things.map(({ id }) => id)
    return textsWithin(context, source, ids, maxBytes)
  })

/** A column with long texts, of a table with the key `id`. */
interface TextColumn {
  readonly table: keyof CoreTables
  readonly column: string
}

/**
 * Returns the texts of the things in a table, in the order of `ids`, until their total size exceeds `maxBytes`;
 * `undefined` for the rest, which is not read. An id that occurs twice counts twice.
 */
async function textsWithin(
  { db }: ReadContext,
  { table, column }: TextColumn,
  ids: readonly number[],
  maxBytes: number,
): Promise<(SizedDescription | undefined)[]> {
  const descriptions: (SizedDescription | undefined)[] = ids.map(() => undefined)
  const text = sql.ref(`things.${column}`)
  let left = maxBytes
  let from = 0
  for (const part of chunked(ids)) {
    const wanted = part.map((id, index) => sql`(${sql.lit(id)}, ${sql.lit(from + index)})`)
    // The lengths are computed before they are summed: SQLite would otherwise keep all texts in memory for the window
    // function.
    const { rows } = await sql<{ place: number; bytes: number; description: string | null }>`
      with wanted (id, place) as (values ${sql.join(wanted)}),
      sized as materialized (
        select wanted.id, wanted.place, coalesce(octet_length(${text}), 0) as bytes
        from wanted left join ${sql.table(table)} as things on things.id = wanted.id
      ),
      summed as (select id, place, bytes, sum(bytes) over (order by place) as total from sized)
      select summed.place, summed.bytes, ${text} as description
      from summed left join ${sql.table(table)} as things on things.id = summed.id
      where summed.total <= ${left}`.execute(db)
    for (const { place, bytes, description } of rows) {
      descriptions[place] = { description: description ?? undefined, bytes }
      left -= bytes
    }
    if (rows.length < part.length) break
    from += part.length
  }
  return descriptions
}
