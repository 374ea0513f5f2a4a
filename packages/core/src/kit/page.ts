import { isUnfit } from '@penstock/db'
import { type Expression, type RawBuilder, type SelectQueryBuilder, type SqlBool, sql } from 'kysely'
import { z } from 'zod'
import type { ReadContext } from './context.ts'
import { DomainError } from './domain-error.ts'
import { problem } from './parse-input.ts'
import type { CoreTables } from './tables.ts'

const MAX_PER_PAGE = 100
const DEFAULT_PER_PAGE = 20
/** Totals are counted so far and one more. */
export const MAX_COUNTED = 10_000

/**
 * Parameters of every list, to be spread into its input: `page` and `perPage` as sent, values below 1 taken for the
 * default, more than 100 for 100.
 *
 * @see spec/rest-part2-details.md 1.6
 */
export const pageInput = {
  page: z
    .int()
    .default(1)
    .transform((page) => Math.max(page, 1)),
  perPage: z
    .int()
    .default(DEFAULT_PER_PAGE)
    .superRefine((perPage, context) => {
      if (perPage === 0) context.addIssue(problem('value_not_allowed'))
    })
    .transform((perPage) => (perPage < 0 ? DEFAULT_PER_PAGE : Math.min(perPage, MAX_PER_PAGE))),
}

export interface PageRequest {
  readonly page: number
  readonly perPage: number
}

export interface Page<Item> extends PageRequest {
  readonly items: readonly Item[]
  readonly hasNext: boolean
  /** `undefined`: more than `MAX_COUNTED`. */
  readonly total: number | undefined
}

/** One page of an ordered query. The order must be total: end it with the key. */
export async function pageOf<From extends keyof CoreTables, Row>(
  { db }: ReadContext,
  query: SelectQueryBuilder<CoreTables, From, Row>,
  { page, perPage }: PageRequest,
): Promise<Page<Row>> {
  const rows = await query
    .limit(perPage + 1)
    .offset((page - 1) * perPage)
    .execute()
  const end = (page - 1) * perPage + rows.length
  // A page that is not full is the last one, and tells the total by itself; one behind the end tells nothing.
  const isLast = rows.length <= perPage && (rows.length > 0 || page === 1)
  const total = isLast ? end : await countOf(db, query)
  return {
    items: rows.slice(0, perPage),
    page,
    perPage,
    hasNext: rows.length > perPage,
    total: total > MAX_COUNTED ? undefined : total,
  }
}

/** At most `MAX_COUNTED` and one more. */
async function countOf<From extends keyof CoreTables, Row>(
  db: ReadContext['db'],
  query: SelectQueryBuilder<CoreTables, From, Row>,
): Promise<number> {
  const some = query
    .clearSelect()
    .clearOrderBy()
    .select(sql<number>`1`.as('one'))
    .limit(MAX_COUNTED + 1)
  const { total } = await db
    .selectFrom(some.as('some'))
    .select(({ fn }) => fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow()
  return total
}

export function mapPage<From, To>(page: Page<From>, to: (item: From) => To): Page<To> {
  return { ...page, items: page.items.map(to) }
}

/** The furthest row that lists with keyset pagination give by its number. */
const MAX_OFFSET = 50_000
const MAX_CURSOR_LENGTH = 4_096

/**
 * Parameters of the lists that also know keyset pagination, to be spread into their input beside `pageInput`.
 *
 * @see spec/rest-part2-details.md 1.7
 */
export const keysetInput = {
  /** `keyset`; anything else means offset. */
  pagination: z.string().optional(),
  /** As the page before gave it. */
  cursor: z.string().max(MAX_CURSOR_LENGTH).optional(),
}

export interface KeysetRequest {
  readonly perPage: number
  readonly cursor?: string | undefined
}

export interface KeysetPage<Item> {
  readonly items: readonly Item[]
  readonly perPage: number
  /** What asks for the page behind this one; `undefined` on the last. */
  readonly nextCursor: string | undefined
}

/** One column of a keyset order. */
export interface KeysetColumn<Row> {
  /** For the database: `projects.id`, or an expression. It holds no null. */
  readonly column: string | RawBuilder<unknown>
  /** Where the selected row has it. */
  readonly key: keyof Row & string
  /** What it is called in cursors, where the key is that of other columns too. */
  readonly name?: string
  readonly direction: 'asc' | 'desc'
}

/**
 * The page behind a cursor. Rows that come or go meanwhile shift nothing, and the last page costs what the first does.
 *
 * ```ts
 * keysetPageOf(query, input, [
 *   { column: 'groups.name', key: 'name', direction: 'asc' },
 *   { column: 'groups.id', key: 'id', direction: 'asc' },
 * ])
 * ```
 *
 * @param query without an order of its own; it selects every `key`
 * @param order total: it ends with the key. Its columns hold no null.
 * @throws DomainError `parameters`, for a cursor that this order did not give
 */
export async function keysetPageOf<From extends keyof CoreTables, Row>(
  query: SelectQueryBuilder<CoreTables, From, Row>,
  { perPage, cursor }: KeysetRequest,
  order: readonly KeysetColumn<Row>[],
): Promise<KeysetPage<Row>> {
  const behind = cursor === undefined ? query : query.where(cursorCondition(cursor, order))
  const rows = await rejectUnfitCursor(
    cursor,
    orderedBy(behind, order)
      .limit(perPage + 1)
      .execute(),
  )
  const items = rows.slice(0, perPage)
  return { items, perPage, nextCursor: rows.length > perPage ? keysetCursorOf(items.at(-1)!, order) : undefined }
}

export function mapKeysetPage<From, To>(page: KeysetPage<From>, to: (item: From) => To): KeysetPage<To> {
  return { ...page, items: page.items.map(to) }
}

/**
 * Asked by a list that also knows keyset pagination, before it gives a page by number.
 *
 * @param what it lists: `Project`
 * @throws DomainError `page_too_far`
 */
export function requireReachableOffset({ page, perPage }: PageRequest, what: string): void {
  if (page * perPage > MAX_OFFSET) throw new DomainError({ code: 'page_too_far', what, maxItems: MAX_OFFSET })
}

/** For an order in which a list has no keyset pages. */
export const noKeysetInThisOrder = (): DomainError => new DomainError({ code: 'no_keyset_in_order' })

type CursorValue = string | number

/**
 * What comes after the row that a cursor was made of; or before it.
 *
 * @throws DomainError `parameters`, for a cursor of another order
 */
export const cursorCondition = <Row>(
  cursor: string,
  order: readonly KeysetColumn<Row>[],
  way: 'after' | 'before' = 'after',
): Expression<SqlBool> => isBehind(way === 'after' ? order : order.map(reversed), cursorValues(cursor, order))

/** The same from the other end. */
export const reversed = <Row>(column: KeysetColumn<Row>): KeysetColumn<Row> => ({
  ...column,
  direction: column.direction === 'asc' ? 'desc' : 'asc',
})

/** The query in that order. */
export const orderedBy = <From extends keyof CoreTables, Row>(
  query: SelectQueryBuilder<CoreTables, From, Row>,
  order: readonly Omit<KeysetColumn<unknown>, 'key'>[],
): SelectQueryBuilder<CoreTables, From, Row> =>
  order.reduce((sorted, { column, direction }) => sorted.orderBy(refOf(column), direction), query)

const refOf = (column: KeysetColumn<unknown>['column']): RawBuilder<unknown> =>
  typeof column === 'string' ? sql.ref(column) : column

/** (a, b) behind (x, y): a > x, or a = x and b > y. Written out, because the directions of the columns may differ. */
function isBehind<Row>(order: readonly KeysetColumn<Row>[], values: readonly CursorValue[]): Expression<SqlBool> {
  const [{ column, direction }, ...rest] = order as [KeysetColumn<Row>, ...KeysetColumn<Row>[]]
  const further = direction === 'asc' ? sql`>` : sql`<`
  const here = sql<SqlBool>`${refOf(column)} ${further} ${values[0]}`
  if (rest.length === 0) return here
  return sql<SqlBool>`(${here} or (${refOf(column)} = ${values[0]} and ${isBehind(rest, values.slice(1))}))`
}

export function keysetCursorOf<Row>(row: Row, order: readonly KeysetColumn<Row>[]): string {
  const values = Object.fromEntries(order.map((column) => [nameOf(column), row[column.key]]))
  return Buffer.from(JSON.stringify(values)).toString('base64url')
}

function cursorValues<Row>(cursor: string, order: readonly KeysetColumn<Row>[]): CursorValue[] {
  const values = z
    .strictObject(Object.fromEntries(order.map((column) => [nameOf(column), z.union([z.string(), z.number()])])))
    .safeParse(jsonIn(cursor))
  if (!values.success) throw invalidCursor()
  return order.map((column) => values.data[nameOf(column)]!)
}

/** With the direction: behind a row of one order there are others than behind the same row of another. */
const nameOf = <Row>({ name, key, direction }: KeysetColumn<Row>): string => `${name ?? key} ${direction}`

/** Whoever writes their own cursor may put anything into it. @throws DomainError `parameters` */
export async function rejectUnfitCursor<Result>(cursor: string | undefined, work: Promise<Result>): Promise<Result> {
  try {
    return await work
  } catch (error) {
    throw cursor !== undefined && isUnfit(error) ? invalidCursor() : error
  }
}

export const invalidCursor = (): DomainError =>
  new DomainError({ code: 'parameters', problems: [{ path: ['cursor'], problem: 'invalid' }] })

function jsonIn(cursor: string): unknown {
  try {
    return JSON.parse(Buffer.from(cursor, 'base64url').toString())
  } catch {
    return undefined
  }
}
