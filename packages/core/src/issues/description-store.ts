import { sql } from 'kysely'
import { z } from 'zod'
import type { Reading } from '../kit/context.ts'
import { inParts } from '../kit/in-parts.ts'
import type { Described } from './issuable.ts'
import type { IssuableTables } from './issuable-store.ts'

/** A row that was asked for the description too: lists select it where they show it, and only there. */
export type DescribedRow<Row> = Row & { readonly description: string | null }

/** The items of these rows, with what they say of themselves. */
export const described = <Item>(items: readonly Item[], rows: readonly DescribedRow<unknown>[]): (Item & Described)[] =>
  items.map((item, index) => ({ ...item, description: rows[index]!.description ?? undefined }))

/** Of a query for descriptions: they may have so many bytes together. */
export const descriptionsInput = z.object({ mostBytes: z.int().min(0) })

export interface GivenDescription extends Described {
  /** In UTF-8. */
  readonly bytes: number
}

/**
 * The descriptions of the items, in the order of their ids, as long as they have at most so many bytes together; `undefined`
 * for those beyond, which are not read. An id that is there twice counts twice.
 */
export async function descriptionsWithin(
  { db }: Reading,
  { items }: IssuableTables,
  ids: readonly number[],
  mostBytes: number,
): Promise<(GivenDescription | undefined)[]> {
  const given: (GivenDescription | undefined)[] = ids.map(() => undefined)
  let left = mostBytes
  let from = 0
  for (const part of inParts(ids)) {
    const wanted = part.map((id, index) => sql`(${sql.lit(id)}, ${sql.lit(from + index)})`)
    // Lengths are made apart from their sums: SQLite would keep the texts themselves to add up what is made of them.
    const { rows } = await sql<{ place: number; bytes: number; description: string | null }>`
      with wanted (id, place) as (values ${sql.join(wanted)}),
      sized as materialized (
        select wanted.id, wanted.place, coalesce(octet_length(items.description), 0) as bytes
        from wanted left join ${sql.table(items)} as items on items.id = wanted.id
      ),
      summed as (select id, place, bytes, sum(bytes) over (order by place) as total from sized)
      select summed.place, summed.bytes, items.description
      from summed left join ${sql.table(items)} as items on items.id = summed.id
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
