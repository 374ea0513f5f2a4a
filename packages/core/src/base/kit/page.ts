import { isInvalidValue, Lookup } from '@penstock/db'
import { type Expression, type RawBuilder, type SelectQueryBuilder, type SqlBool, sql } from 'kysely'
import { z } from 'zod'
import { DomainError } from './domain-error.ts'
import { problem } from './parse-input.ts'
import type { ReadContext } from './store-context.ts'
import type { CoreTables } from './tables.ts'

const MAX_PER_PAGE = 100
const DEFAULT_PER_PAGE = 20
/** Totals are counted up to this number. */
export const MAX_COUNTED = 10_000

/**
 * Parameters of every list; spread them into its input. As on GitLab, values below 1 mean the default, and more than
 * 100 per page means 100.
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
  /** `undefined` if it exceeds `MAX_COUNTED`. */
  readonly total: number | undefined
}

/** Returns one page of an ordered query. The order must be total: end it with the key. */
export async function pageOf<From extends keyof CoreTables, Row>(
  { db }: ReadContext,
  query: SelectQueryBuilder<CoreTables, From, Row>,
  request: PageRequest,
): Promise<Page<Row>> {
  const rows = await pageQuery(query, request.perPage, offsetOf(request)).execute()
  return pageOfRows(rows, request, async () => (await countQuery(db, query).executeTakeFirstOrThrow()).total)
}

/**
 * Reads pages of an ordered query, like `pageOf`, with statements that are compiled once for each number of rows. For lists in
 * the form that most requests have.
 */
export class PageLookup<From extends keyof CoreTables, Row, Values extends readonly unknown[]> {
  readonly #query: (db: ReadContext['db'], ...values: Values) => SelectQueryBuilder<CoreTables, From, Row>
  /** The statements of pages by their maximum number of rows, of which there are at most `MAX_PER_PAGE`. */
  readonly #pages = new Map<number, Lookup<CoreTables, readonly [offset: number, ...values: Values], Row>>()
  readonly #count: Lookup<CoreTables, Values, { readonly total: number }>

  /** @param query like that of a `Lookup`; its order must be total */
  constructor(query: (db: ReadContext['db'], ...values: Values) => SelectQueryBuilder<CoreTables, From, Row>) {
    this.#query = query
    this.#count = new Lookup((db, ...values) => countQuery(db, query(db, ...values)))
  }

  async run({ db }: ReadContext, request: PageRequest, ...values: Values): Promise<Page<Row>> {
    const rows = await this.#pageLookup(request.perPage).all(db, offsetOf(request), ...values)
    return pageOfRows(rows, request, async () => (await this.#count.run(db, ...values))!.total)
  }

  #pageLookup(perPage: number) {
    const known = this.#pages.get(perPage)
    if (known !== undefined) return known
    const lookup = new Lookup((db: ReadContext['db'], offset: number, ...values: Values) =>
      pageQuery(this.#query(db, ...values), perPage, offset),
    )
    this.#pages.set(perPage, lookup)
    return lookup
  }
}

const offsetOf = ({ page, perPage }: PageRequest): number => (page - 1) * perPage

/** Returns the query of a page, with one row more, which shows whether there is a next page. */
const pageQuery = <From extends keyof CoreTables, Row>(
  query: SelectQueryBuilder<CoreTables, From, Row>,
  perPage: number,
  offset: number,
) => query.limit(perPage + 1).offset(offset)

/** @param count returns the number of rows of the list */
async function pageOfRows<Row>(
  rows: readonly Row[],
  { page, perPage }: PageRequest,
  count: () => Promise<number>,
): Promise<Page<Row>> {
  const end = (page - 1) * perPage + rows.length
  // The total follows from a page that is not full, as it is the last one, unless the page is empty: it may be beyond the
  // end.
  const isLast = rows.length <= perPage && (rows.length > 0 || page === 1)
  const total = isLast ? end : await count()
  return {
    items: rows.slice(0, perPage),
    page,
    perPage,
    hasNext: rows.length > perPage,
    total: total > MAX_COUNTED ? undefined : total,
  }
}

/** Returns one page of the items of an ordered query, like `pageOf`. */
export const pageOfItems = async <From extends keyof CoreTables, Row, Item>(
  context: ReadContext,
  query: SelectQueryBuilder<CoreTables, From, Row>,
  page: PageRequest,
  itemOf: (row: Row) => Item,
): Promise<Page<Item>> => mapPage(await pageOf(context, query, page), itemOf)

/** Returns the query of the number of rows, counted up to `MAX_COUNTED + 1`. */
function countQuery<From extends keyof CoreTables, Row>(
  db: ReadContext['db'],
  query: SelectQueryBuilder<CoreTables, From, Row>,
) {
  const some = query
    .clearSelect()
    .clearOrderBy()
    .select(sql<number>`1`.as('one'))
    .limit(MAX_COUNTED + 1)
  return db.selectFrom(some.as('some')).select(({ fn }) => fn.countAll<number>().as('total'))
}

export function mapPage<From, To>(page: Page<From>, to: (item: From) => To): Page<To> {
  return { ...page, items: page.items.map(to) }
}

/** The last row that can be reached by page number in lists that also support keyset pagination. */
const MAX_OFFSET = 50_000
const MAX_CURSOR_LENGTH = 4_096

/** Parameters of lists that also support keyset pagination; spread them into the input beside `pageInput`. */
export const keysetInput = {
  /** `keyset`; any other value means pages by number. */
  pagination: z.string().optional(),
  /** The `nextCursor` of the page before. */
  cursor: z.string().max(MAX_CURSOR_LENGTH).optional(),
}

export interface KeysetRequest {
  readonly perPage: number
  readonly cursor?: string | undefined
}

export interface KeysetPage<Item> {
  readonly items: readonly Item[]
  readonly perPage: number
  /** The cursor of the next page; `undefined` on the last page. */
  readonly nextCursor: string | undefined
}

/** One column of a keyset order. */
export interface KeysetColumn<Row> {
  /** The SQL column, such as `projects.id`, or an expression. It is never null. */
  readonly column: string | RawBuilder<unknown>
  /** The key of the value in the selected row. */
  readonly key: keyof Row & string
  /** The name in cursors, if `key` is also used by other columns. */
  readonly name?: string
  readonly direction: 'asc' | 'desc'
}

/**
 * Returns the page after a cursor. Rows that are added or deleted in between do not shift the following pages, and every
 * page costs the same.
 *
 * ```ts
 * keysetPageOf(query, input, [
 *   { column: 'groups.name', key: 'name', direction: 'asc' },
 *   { column: 'groups.id', key: 'id', direction: 'asc' },
 * ])
 * ```
 *
 * @param query without an order; it selects every `key`
 * @param order a total order: it ends with the key, and its columns are never null
 * @throws DomainError `parameters`, for a cursor that does not belong to this order
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
 * Rejects a page number that is beyond `MAX_OFFSET`. Called by lists that also support keyset pagination.
 *
 * @param what the kind of the items: `Project`
 * @throws DomainError `page_too_far`
 */
export function requireReachableOffset({ page, perPage }: PageRequest, what: string): void {
  if (page * perPage > MAX_OFFSET) throw new DomainError({ code: 'page_too_far', what, maxItems: MAX_OFFSET })
}

/** Returns the error for keyset pagination in an order that does not support it. */
export const noKeysetInThisOrder = (): DomainError => new DomainError({ code: 'no_keyset_in_order' })

/** Returns an ascending order by the columns with these names, which are also the keys in the rows. */
export const ascending = <Key extends string>(
  ...keys: readonly Key[]
): KeysetColumn<Readonly<Record<Key, unknown>>>[] => keys.map((key) => ({ column: key, key, direction: 'asc' }))

type CursorValue = string | number

/**
 * Returns the condition for the rows after the row of a cursor, or before it.
 *
 * @throws DomainError `parameters`, for a cursor of another order
 */
export const cursorCondition = <Row>(
  cursor: string,
  order: readonly KeysetColumn<Row>[],
  side: 'after' | 'before' = 'after',
): Expression<SqlBool> => isBehind(side === 'after' ? order : order.map(reversed), cursorValues(cursor, order))

/** Returns the column with the opposite direction. */
export const reversed = <Row>(column: KeysetColumn<Row>): KeysetColumn<Row> => ({
  ...column,
  direction: column.direction === 'asc' ? 'desc' : 'asc',
})

/** Returns the query with that order. */
export const orderedBy = <From extends keyof CoreTables, Row>(
  query: SelectQueryBuilder<CoreTables, From, Row>,
  order: readonly Omit<KeysetColumn<unknown>, 'key'>[],
): SelectQueryBuilder<CoreTables, From, Row> =>
  order.reduce((sorted, { column, direction }) => sorted.orderBy(refOf(column), direction), query)

const refOf = (column: KeysetColumn<unknown>['column']): RawBuilder<unknown> =>
  typeof column === 'string' ? sql.ref(column) : column

/**
 * Returns the condition for (a, b) > (x, y): a > x, or a = x and b > y. Written out, because the directions of the columns
 * may differ.
 */
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

/** Returns the name of a column in cursors. It contains the direction, as a cursor is only valid in the same order. */
const nameOf = <Row>({ name, key, direction }: KeysetColumn<Row>): string => `${name ?? key} ${direction}`

/**
 * Awaits a query that uses a cursor. A cursor that a client made up may contain values that the database rejects.
 *
 * @throws DomainError `parameters`
 */
export async function rejectUnfitCursor<Result>(cursor: string | undefined, work: Promise<Result>): Promise<Result> {
  try {
    return await work
  } catch (error) {
    throw cursor !== undefined && isInvalidValue(error) ? invalidCursor() : error
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
