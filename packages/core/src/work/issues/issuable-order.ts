import { type AliasedRawBuilder, type RawBuilder, sql } from 'kysely'
import { MAX_INTEGER } from '../../base/kit/common-fields.ts'
import type { KeysetColumn } from '../../base/kit/page.ts'
import type { IssuableRow } from './issuable-store.ts'
import type { IssuableTables } from './issuable-tables.ts'

type Direction = KeysetColumn<unknown>['direction']

/** The sort terms of a list. The id is always appended, so that the order is total. */
export interface IssuableOrder {
  readonly by: readonly OrderTerm[]
  /**
   * How items with equal terms are ordered. For columns of the item itself, by id in the direction of the list. For
   * values of related rows (labels, milestone), the newest item first in both directions.
   */
  readonly tieBreak: 'same_direction' | 'newest_first'
}

/** A column that is not null, or a function that returns an SQL expression that is not null. */
type OrderTerm = FilledColumn | ((tables: IssuableTables, direction: Direction) => RawBuilder<string | number>)

type FilledColumn = {
  [Name in keyof IssuableRow & string]: null extends IssuableRow[Name] ? never : Name
}[keyof IssuableRow & string]

type Last = Readonly<Record<Direction, string | number>>

/** The values that represent a missing value, so that it comes last in either direction. */
export const lastTime: Last = { asc: Number.MAX_SAFE_INTEGER, desc: -1 }
export const lastDay: Last = { asc: '9999-99-99', desc: '' }

/** Orders by a column that may hold null. */
export const byColumn = (name: string, last: Last): IssuableOrder => ({
  by: [({ items }, direction) => orLast(sql.ref(`${items}.${name}`), last[direction])],
  tieBreak: 'same_direction',
})

const orLast = (value: RawBuilder<unknown>, last: string | number) =>
  sql<string | number>`coalesce(${value}, ${sql.lit(last)})`

const milestoneDue: OrderTerm = ({ items }, direction) =>
  orLast(
    sql`(select milestones.due_date from milestones where milestones.id = ${sql.ref(`${items}.milestone_id`)})`,
    lastDay[direction],
  )

/** The lowest (most urgent) priority among an item's labels; an item without one sorts after all others. */
const labelPriority: OrderTerm = ({ items, itemId, labels }) =>
  sql<number>`coalesce((select min(labels.priority) from ${sql.table(labels)} as pairs
    inner join labels on labels.id = pairs.label_id
    where ${sql.ref(`pairs.${itemId}`)} = ${sql.ref(`${items}.id`)}), ${sql.lit(MAX_INTEGER)})`

/** The order by a value that is the same for all items: the newest first, in both directions. */
export const constantOrder: IssuableOrder = { by: [], tieBreak: 'newest_first' }

/** The orders that issues and merge requests share. */
export const issuableOrderTable = {
  created_at: { by: ['created_at_ms'], tieBreak: 'same_direction' },
  updated_at: { by: ['updated_at_ms'], tieBreak: 'same_direction' },
  closed_at: byColumn('closed_at_ms', lastTime),
  title: { by: ['title'], tieBreak: 'same_direction' },
  label_priority: { by: [labelPriority], tieBreak: 'newest_first' },
  milestone_due: { by: [milestoneDue], tieBreak: 'newest_first' },
  priority: { by: [milestoneDue, labelPriority], tieBreak: 'newest_first' },
  popularity: { by: ['upvotes'], tieBreak: 'newest_first' },
} as const satisfies Record<string, IssuableOrder>

/** Sort terms that are expressions, selected under these names so that cursors can contain their values. */
interface OrderValues {
  readonly first_value: string | number
  readonly second_value: string | number
}

const valueNames = ['first_value', 'second_value'] as const

/**
 * Returns the columns of a list's order, and the expressions that the query must select in addition to its own columns.
 */
export function orderOf<By extends string>(
  tables: IssuableTables,
  orders: Readonly<Record<By, IssuableOrder>>,
  { orderBy, sort }: { readonly orderBy: By; readonly sort?: Direction | undefined },
) {
  const direction = sort ?? (orderBy === 'label_priority' ? 'asc' : 'desc')
  const { by, tieBreak } = orders[orderBy]
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
    direction: tieBreak === 'newest_first' ? 'desc' : direction,
  } as const
  return { columns: [...columns, id], values }
}
