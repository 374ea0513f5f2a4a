import { sql } from 'kysely'
import type { ReadContext } from '../../base/kit/store-context.ts'
import type { CoreTables } from '../../base/kit/tables.ts'
import type { Tx } from '../../base/operations/context.ts'
import type { IssuableTables } from './issuable-tables.ts'

/** Returns the label names of each item, in alphabetical order. */
export async function labelsByItem(
  { db }: ReadContext,
  tables: IssuableTables,
  itemIds: readonly number[],
): Promise<ReadonlyMap<number, readonly string[]>> {
  if (itemIds.length === 0) return new Map()
  const { rows } = await sql<{ item_id: number; name: string }>`
    select ${sql.ref(`pairs.${tables.itemId}`)} as item_id, labels.name from ${sql.table(tables.labels)} as pairs
    inner join labels on labels.id = pairs.label_id
    where ${sql.ref(`pairs.${tables.itemId}`)} in (${sql.join([...itemIds])})
    order by labels.name, labels.id`.execute(db)
  return groupByKey(rows.map(({ item_id, name }) => [item_id, name]))
}

/** Returns the user ids of each item in ascending order. */
export async function userIdsByItem(
  { db }: ReadContext,
  tables: IssuableTables,
  people: keyof CoreTables,
  itemIds: readonly number[],
): Promise<ReadonlyMap<number, readonly number[]>> {
  if (itemIds.length === 0) return new Map()
  const { rows } = await sql<{ item_id: number; user_id: number }>`
    select ${sql.ref(tables.itemId)} as item_id, user_id from ${sql.table(people)}
    where ${sql.ref(tables.itemId)} in (${sql.join([...itemIds])})
    order by user_id`.execute(db)
  return groupByKey(rows.map(({ item_id, user_id }) => [item_id, user_id]))
}

/** Replaces the labels or users of one item, and returns whether anything changed. New rows also get `columns`. */
export async function setPairs(
  { db }: Tx,
  { itemId }: IssuableTables,
  table: keyof CoreTables,
  other: 'label_id' | 'user_id',
  owner: number,
  others: readonly number[],
  columns: Readonly<Record<string, number>> = {},
): Promise<boolean> {
  const { rows } = await sql<{ other: number }>`
    select ${sql.ref(other)} as other from ${sql.table(table)} where ${sql.ref(itemId)} = ${owner}`.execute(db)
  const before = new Set(rows.map((row) => row.other))
  const removed = [...before].filter((id) => !others.includes(id))
  const added = others.filter((id) => !before.has(id))
  if (removed.length > 0) {
    await sql`delete from ${sql.table(table)}
      where ${sql.ref(itemId)} = ${owner} and ${sql.ref(other)} in (${sql.join(removed)})`.execute(db)
  }
  if (added.length > 0) {
    const names = [itemId, other, ...Object.keys(columns)].map((name) => sql.ref(name))
    const values = added.map((id) => sql`(${sql.join([owner, id, ...Object.values(columns)])})`)
    await sql`insert into ${sql.table(table)} (${sql.join(names)}) values ${sql.join(values)}`.execute(db)
  }
  return removed.length + added.length > 0
}

/** Returns the values of each key, in their order. */
export function groupByKey<Value>(pairs: readonly (readonly [number, Value])[]): ReadonlyMap<number, readonly Value[]> {
  const groups = new Map<number, Value[]>()
  for (const [key, value] of pairs) {
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [value])
    else group.push(value)
  }
  return groups
}
