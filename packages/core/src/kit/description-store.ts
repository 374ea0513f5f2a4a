import { sql } from 'kysely'
import { z } from 'zod'
import type { ReadContext } from './context.ts'
import { chunked } from './chunked.ts'
import { type BatchQuery, unscopedBatchQuery } from './operation.ts'
import type { CoreTables } from './tables.ts'

/** What is said of something, which may be long: not a part of what lists hold that do not show it. */
export interface Described {
  readonly description: string | undefined
}

/** A row that was asked for the description too: lists select it where they show it, and only there. */
export type DescribedRow<Row> = Row & { readonly description: string | null }

/** Tables of things that have an id and a description. */
type DescribedTable = {
  [Table in keyof CoreTables]: CoreTables[Table] extends { description: string | null } ? Table : never
}[keyof CoreTables]

/** Of a query for descriptions: they may have so many bytes together. */
export const descriptionsInput = z.object({ maxBytes: z.int().min(0) })

export interface GivenDescription extends Described {
  /** In UTF-8. */
  readonly bytes: number
}

/** As many of the first ones as the caller has room for. Whoever sees a thing sees what is said of it. */
export const descriptionsOfEach = <Thing extends { readonly id: number }>(
  name: string,
  table: DescribedTable,
): BatchQuery<typeof descriptionsInput, Thing, GivenDescription | undefined> =>
  unscopedBatchQuery({ name, input: descriptionsInput }, (context, things: readonly Thing[], { maxBytes }) => {
    const ids = things.map(({ id }) => id)
    return descriptionsWithin(context, table, ids, maxBytes)
  })

/**
 * The descriptions of the things in a table, in the order given, as long as they have at most so many bytes together;
 * `undefined` for those beyond, which are not read. An id that is there twice counts twice.
 */
async function descriptionsWithin(
  { db }: ReadContext,
  table: DescribedTable,
  ids: readonly number[],
  maxBytes: number,
): Promise<(GivenDescription | undefined)[]> {
  const given: (GivenDescription | undefined)[] = ids.map(() => undefined)
  let left = maxBytes
  let from = 0
  for (const part of chunked(ids)) {
    const wanted = part.map((id, index) => sql`(${sql.lit(id)}, ${sql.lit(from + index)})`)
    // Lengths are made apart from their sums: SQLite would keep the texts themselves to add up what is made of them.
    const { rows } = await sql<{ place: number; bytes: number; description: string | null }>`
      with wanted (id, place) as (values ${sql.join(wanted)}),
      sized as materialized (
        select wanted.id, wanted.place, coalesce(octet_length(things.description), 0) as bytes
        from wanted left join ${sql.table(table)} as things on things.id = wanted.id
      ),
      summed as (select id, place, bytes, sum(bytes) over (order by place) as total from sized)
      select summed.place, summed.bytes, things.description
      from summed left join ${sql.table(table)} as things on things.id = summed.id
      where summed.total <= ${left}`.execute(db)
    for (const { place, bytes, description } of rows) {
      given[place] = { description: description ?? undefined, bytes }
      left -= bytes
    }
    if (rows.length < part.length) break
    from += part.length
  }
  return given
}
