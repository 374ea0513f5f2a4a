import { setImmediate as nextTurn } from 'node:timers/promises'
import { type OperationNodeSource, type RawBuilder, type SelectQueryBuilder, sql } from 'kysely'
import { DomainError } from './domain-error.ts'
import {
  cursorCondition,
  invalidCursor,
  type KeysetColumn,
  keysetCursorOf,
  orderedBy,
  rejectUnfitCursor,
  reversed,
} from './page.ts'
import type { ReadContext } from './store-context.ts'
import type { CoreTables } from './tables.ts'

/** Selects a part of a list: the first or last rows of those after the cursor `after` and before the cursor `before`. */
export type ListingRequest = (
  | { readonly first: number; readonly last?: undefined }
  | { readonly first?: undefined; readonly last: number }
) & { readonly after?: string | undefined; readonly before?: string | undefined }

/** A part of a list, in the order of the list, whether `first` or `last` was requested. */
export interface ListingPage<Item> {
  readonly items: readonly Item[]
  /** One for each item, in the same order. */
  readonly cursors: readonly string[]
  /** The cursors of the first and the last row that were read, even if their items are missing because they were deleted. */
  readonly startCursor: string | undefined
  readonly endCursor: string | undefined
  /** Whether there are more rows in the direction of paging: behind the page for `first`, before it for `last`. */
  readonly hasMore: boolean
}

/**
 * One list for each of several parents. Pages, counts and sums are read on request, for all parents together.
 * `Sum` is the union of the names of the sums.
 */
export interface Listing<Item, Sum extends string = never> {
  pages(request: ListingRequest): Promise<readonly ListingPage<Item>[]>
  /** Returns the length of each list, counted up to `limit + 1`. */
  counts(limit: number): Promise<readonly number[]>
  /** Returns the sum over each whole list. */
  readonly sums: (name: Sum) => Promise<readonly number[]>
}

/** One of the lists of a listing. */
export interface Listed<Item, Sum extends string = never> {
  readonly listing: Listing<Item, Sum>
  readonly index: number
}

/** Returns the lists of a listing as the result of a batch query, one for each parent. */
export const listedEach = <Item, Sum extends string = never>(
  listing: Listing<Item, Sum>,
  count: number,
): Listed<Item, Sum>[] => Array.from({ length: count }, (_, index) => ({ listing, index }))

type Query<From extends keyof CoreTables, Row> = SelectQueryBuilder<CoreTables, From, Row>

export interface ListingOptions<Row, Item, Sum extends string = never> {
  /** A total order: it ends with the key, and its columns are never null. */
  readonly order: readonly KeysetColumn<Row>[]
  /**
   * Returns the item of each row, in the same order; `undefined` if it was deleted. Called once for the rows of all lists.
   */
  readonly itemsOf: (rows: readonly Row[]) => Promise<readonly (Item | undefined)[]> | readonly (Item | undefined)[]
  readonly sums?: Readonly<Record<Sum, RawBuilder<unknown>>>
}

/** The number of lists read by one statement; SQLite would accept up to 500. */
const LISTS_PER_STATEMENT = 200
/**
 * The number of values bound by one statement; SQLite would accept 32,766. The time to prepare a statement grows faster
 * than its length, so several shorter statements are quicker.
 */
const VALUES_PER_STATEMENT = 2_500
/**
 * The number of rows read by one statement. They are in memory at the same time, and reading them blocks other
 * requests.
 */
const ROWS_PER_STATEMENT = 6_000
/** The number of rows of all lists together. It is more than any answer shows; beyond it the request is refused. */
const MAX_ROWS = 100_000

/**
 * Returns the lists that the queries define.
 *
 * @param queries one for each list, without an order; they select every key of the order
 * @throws DomainError `parameters` from `pages`, for a cursor that does not belong to this order
 */
export function listingOf<From extends keyof CoreTables, Row, Item, Sum extends string = never>(
  { db }: ReadContext,
  queries: readonly Query<From, Row>[],
  { order, itemsOf, sums }: ListingOptions<Row, Item, Sum>,
): Listing<Item, Sum> {
  return {
    async pages({ first, last, after, before }) {
      const limit = first ?? last
      const isBackwards = first === undefined
      const asked = isBackwards ? order.map(reversed) : order
      const limited = queries.map((query) => {
        const behind = after === undefined ? query : query.where(cursorCondition(after, order))
        const within = before === undefined ? behind : behind.where(cursorCondition(before, order, 'before'))
        return orderedBy(within, asked).limit(limit + 1)
      })
      const lists =
        limit === 0
          ? queries.map(() => [])
          : await rejectUnfitCursor(after ?? before, rowsOfEach(db, limited, limit + 1))
      const kept = lists.map((rows) => (isBackwards ? rows.slice(0, limit).toReversed() : rows.slice(0, limit)))
      const items = await itemsOf(kept.flat())
      let from = 0
      return kept.map((rows, index) => {
        const start = from
        from += rows.length
        const cursors = rows.map((row) => keysetCursorOf(row, order))
        const there = cursors.flatMap((cursor, place) => {
          const item = items[start + place]
          return item === undefined ? [] : { item, cursor }
        })
        return {
          items: there.map(({ item }) => item),
          cursors: there.map(({ cursor }) => cursor),
          startCursor: cursors[0],
          endCursor: cursors.at(-1),
          hasMore: lists[index]!.length > limit,
        }
      })
    },

    async counts(limit) {
      const counted = queries.map((query) => {
        const some = query
          .clearSelect()
          .select(sql<number>`1`.as('one'))
          .limit(limit + 1)
        return db.selectFrom(some.as('some')).select(({ fn }) => fn.countAll<number>().as('total'))
      })
      const lists = await rowsOfEach(db, counted)
      return lists.map(([row]) => Number(row?.total ?? 0))
    },

    async sums(name) {
      const added = queries.map((query) =>
        query.clearSelect().select(sql<number | null>`sum(${sums![name]})`.as('total')),
      )
      const lists = await rowsOfEach(db, added)
      return lists.map(([row]) => Number(row?.total ?? 0))
    },
  }
}

/** Returns lists that are in memory. A cursor is the position of an item. */
export function listingOfArrays<Item>(lists: readonly (readonly Item[])[]): Listing<Item> {
  return {
    async pages({ first, last, after, before }) {
      return lists.map((list) => {
        const start = after === undefined ? 0 : placeOf(after)
        const end = before === undefined ? list.length : Math.min(list.length, placeOf(before) - 1)
        const from = first === undefined ? Math.max(start, end - (last ?? 0)) : start
        const to = first === undefined ? end : Math.min(end, start + first)
        const items = list.slice(from, Math.max(from, to))
        const cursors = items.map((_, index) => cursorOfPlace(from + index + 1))
        return {
          items,
          cursors,
          startCursor: cursors[0],
          endCursor: cursors.at(-1),
          hasMore: first === undefined ? from > start : to < end,
        }
      })
    },
    async counts(limit) {
      return lists.map(({ length }) => Math.min(length, limit + 1))
    },
    /** Never called with a name, as `Sum` is `never`. */
    async sums() {
      return []
    },
  }
}

/** Returns `count` empty lists. Every sum is 0. */
export const emptyListing = <Item>(count: number): Listing<Item, string> => ({
  ...listingOfArrays<Item>(Array.from({ length: count }, () => [])),
  sums: async () => Array.from({ length: count }, () => 0),
})

export const cursorOfPlace = (place: number): string => Buffer.from(String(place)).toString('base64url')

/** Returns the position in a cursor. @throws DomainError `parameters` */
export function placeOf(cursor: string): number {
  const text = Buffer.from(cursor, 'base64url').toString()
  if (/^\d{1,9}$/.test(text)) return Number(text)
  throw invalidCursor()
}

/** A query that returns rows, of any tables. */
interface RowsQuery<Row> extends OperationNodeSource {
  compile(): { readonly parameters: readonly unknown[] }
  execute(): Promise<Row[]>
}

/**
 * Returns the rows of each query in the query's order. Uses few statements, and lets other requests run between them.
 *
 * @param maxRows the limit of each query
 * @throws DomainError `impossible` if there are too many rows
 */
export async function rowsOfEach<Row>(
  db: ReadContext['db'],
  queries: readonly RowsQuery<Row>[],
  maxRows = 1,
): Promise<Row[][]> {
  if (queries.length === 1) return [await queries[0]!.execute()]
  const lists = queries.map((): Row[] => [])
  const perStatement = Math.min(listsPerStatement(queries), Math.max(1, Math.floor(ROWS_PER_STATEMENT / maxRows)))
  let left = MAX_ROWS
  for (let from = 0; from < queries.length; from += perStatement) {
    if (from > 0) await nextTurn()
    const parts = queries.slice(from, from + perStatement).map(
      // The rows are numbered because the union has no order.
      (query, index) => sql`select part.*, ${sql.lit(from + index)} as list_index, row_number() over () as list_place
        from (${query}) as part`,
    )
    const { rows } = await sql<Row & { list_index: number; list_place: number }>`
      ${sql.join(parts, sql` union all `)} order by list_index, list_place`.execute(db)
    left -= rows.length
    if (left < 0) throw tooMany()
    for (const row of rows) lists[row.list_index]!.push(row)
  }
  return lists
}

const tooMany = (): DomainError =>
  new DomainError({ code: 'impossible', message: 'Too many items: ask for fewer lists at once, or shorter ones' })

/**
 * Returns how many of the queries fit into one statement. All have the same form, so the values of the first one are
 * counted.
 */
function listsPerStatement([query]: readonly RowsQuery<unknown>[]): number {
  const values = query?.compile().parameters.length ?? 0
  return Math.max(1, Math.min(LISTS_PER_STATEMENT, Math.floor(VALUES_PER_STATEMENT / Math.max(values, 1))))
}
