import { type AliasedRawBuilder, type RawBuilder, sql } from 'kysely'
import type { KeysetColumn } from '../kit/page.ts'
import type { IssuableRow } from './issuable-store.ts'
import type { IssuableTables } from './issuable-tables.ts'

type Direction = KeysetColumn<unknown>['direction']

/** By what a list can be ordered before the id, which makes every order total. */
export interface IssuableOrder {
  readonly by: readonly OrderTerm[]
  /**
   * Of those that are alike in it. The columns of a thing itself go on by the id in the direction of the list; what others
   * say of it goes on by the newest, whichever way.
   */
  readonly alike: 'same_way' | 'newest_first'
}

/** A column, or else what gives a value: neither may be null. */
type OrderTerm = FilledColumn | ((tables: IssuableTables, direction: Direction) => RawBuilder<string | number>)

type FilledColumn = {
  [Name in keyof IssuableRow & string]: null extends IssuableRow[Name] ? never : Name
}[keyof IssuableRow & string]

type Last = Readonly<Record<Direction, string | number>>

/** In either direction what has no value comes last. */
export const lastTime: Last = { asc: Number.MAX_SAFE_INTEGER, desc: -1 }
export const lastDay: Last = { asc: '9999-99-99', desc: '' }

/** By a column that may hold null. */
export const byColumn = (name: string, last: Last): IssuableOrder => ({
  by: [({ items }, direction) => orLast(sql.ref(`${items}.${name}`), last[direction])],
  alike: 'same_way',
})

const orLast = (value: RawBuilder<unknown>, last: string | number) =>
  sql<string | number>`coalesce(${value}, ${sql.lit(last)})`

const milestoneDue: OrderTerm = ({ items }, direction) =>
  orLast(
    sql`(select milestones.due_date from milestones where milestones.id = ${sql.ref(`${items}.milestone_id`)})`,
    lastDay[direction],
  )

/** The most urgent of its labels' priorities; as if after all others without one. */
const labelPriority: OrderTerm = ({ items, itemId, labels }) =>
  sql<number>`coalesce((select min(labels.priority) from ${sql.table(labels)} as pairs
    inner join labels on labels.id = pairs.label_id
    where ${sql.ref(`pairs.${itemId}`)} = ${sql.ref(`${items}.id`)}), 2147483647)`

/** For an order by what all of a kind are alike in. */
export const allAlike: IssuableOrder = { by: [], alike: 'newest_first' }

/** What issues and merge requests can both be ordered by. */
export const issuableOrderTable = {
  created_at: { by: ['created_at_ms'], alike: 'same_way' },
  updated_at: { by: ['updated_at_ms'], alike: 'same_way' },
  closed_at: byColumn('closed_at_ms', lastTime),
  title: { by: ['title'], alike: 'same_way' },
  label_priority: { by: [labelPriority], alike: 'newest_first' },
  milestone_due: { by: [milestoneDue], alike: 'newest_first' },
  priority: { by: [milestoneDue, labelPriority], alike: 'newest_first' },
  popularity: allAlike,
} as const satisfies Record<string, IssuableOrder>

/** What of an order is no column, as the rows of a list have it: selected under these names, for cursors. */
export interface OrderValues {
  readonly first_value: string | number
  readonly second_value: string | number
}

const valueNames = ['first_value', 'second_value'] as const

/** The columns of a list's order, and those of its values that a query must select beside its own columns. */
export function orderOf<By extends string>(
  tables: IssuableTables,
  orders: Readonly<Record<By, IssuableOrder>>,
  { orderBy, sort }: { readonly orderBy: By; readonly sort?: Direction | undefined },
) {
  const direction = sort ?? (orderBy === 'label_priority' ? 'asc' : 'desc')
  const { by, alike } = orders[orderBy]
  const values: AliasedRawBuilder<string | number, keyof OrderValues>[] = []
  const columns = by.map((term): KeysetColumn<IssuableRow & OrderValues> => {
    if (typeof term === 'string') return { column: `${tables.items}.${term}`, key: term, direction }
    const key = valueNames[values.length]!
    const column = term(tables, direction)
    values.push(column.as(key))
    return { column, key, name: `${orderBy} ${key}`, direction }
  })
  const id = {
    column: `${tables.items}.id`,
    key: 'id',
    direction: alike === 'newest_first' ? 'desc' : direction,
  } as const
  return { columns: [...columns, id], values }
}
