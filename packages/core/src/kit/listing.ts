import { setImmediate as nextTurn } from 'node:timers/promises'
import { type OperationNodeSource, type RawBuilder, type SelectQueryBuilder, sql } from 'kysely'
import type { ReadContext } from './context.ts'
import { DomainError } from './domain-error.ts'
import {
  invalidCursor,
  cursorCondition,
  type KeysetColumn,
  keysetCursorOf,
  rejectUnfitCursor,
  orderedBy,
  reversed,
} from './page.ts'
import type { CoreTables } from './tables.ts'

/**
 * Which part of a list: of what is behind `after` and before `before`, the first so many or the last so many.
 *
 * @see spec/graphql-contract.md 3.1
 */
export type ListingRequest = (
  | { readonly first: number; readonly last?: undefined }
  | { readonly first?: undefined; readonly last: number }
) & { readonly after?: string | undefined; readonly before?: string | undefined }

/** In the order of the list, whichever end it was asked from. */
export interface ListingPage<Item> {
  readonly items: readonly Item[]
  /** Of the items, in their order. */
  readonly cursors: readonly string[]
  /** Of the first and the last row that were read, though what they held may have gone meanwhile. */
  readonly startCursor: string | undefined
  readonly endCursor: string | undefined
  /** Whether there are more on the side that it was asked from. */
  readonly hasMore: boolean
}

/**
 * A list of each of several things. Pages and counts are fetched when they are asked for, those of all the things at once.
 * `Sum` names what it can add up.
 */
export interface Listing<Item, Sum extends string = never> {
  pages(request: ListingRequest): Promise<readonly ListingPage<Item>[]>
  /** At most `most` and one more of each. */
  counts(most: number): Promise<readonly number[]>
  /** Over each whole list. */
  readonly sums: (name: Sum) => Promise<readonly number[]>
}

/** One of the lists of a listing. */
export interface Listed<Item, Sum extends string = never> {
  readonly listing: Listing<Item, Sum>
  readonly index: number
}

/** The result of a batch query: the lists of so many parents. */
export const listedEach = <Item, Sum extends string = never>(
  listing: Listing<Item, Sum>,
  count: number,
): Listed<Item, Sum>[] => Array.from({ length: count }, (_, index) => ({ listing, index }))

type Query<From extends keyof CoreTables, Row> = SelectQueryBuilder<CoreTables, From, Row>

interface ListingOptions<Row, Item, Sum extends string> {
  /** Total: it ends with the key. Its columns hold no null. */
  readonly order: readonly KeysetColumn<Row>[]
  /** In the same order; told of the rows of all the lists at once. `undefined` for what has gone meanwhile. */
  readonly itemsOf: (rows: readonly Row[]) => Promise<readonly (Item | undefined)[]> | readonly (Item | undefined)[]
  readonly sums?: Readonly<Record<Sum, RawBuilder<unknown>>>
}

/** So many lists are fetched by one statement, which SQLite would take up to 500 of. */
const LISTS_PER_STATEMENT = 200
/**
 * And so many values, of which it would take 32,766: the time to prepare a statement grows faster than its length, so that
 * long ones are quicker in parts.
 */
const VALUES_PER_STATEMENT = 2_500
/** And lists of so many rows together: what they hold is in memory at once, and nobody else has their turn. */
const ROWS_PER_STATEMENT = 6_000
/** Of all lists together, more than any answer shows: beyond it nothing more is read, and the whole is refused. */
const MAX_ROWS = 100_000

/**
 * @param queries one for each list, without an order; they select every key of the order
 * @throws DomainError `parameters` from `pages`, for a cursor that this order did not give
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

    async counts(most) {
      const counted = queries.map((query) => {
        const some = query
          .clearSelect()
          .select(sql<number>`1`.as('one'))
          .limit(most + 1)
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

/** A list that has been read whole. Its cursors are places in it. */
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
    async counts(most) {
      return lists.map(({ length }) => Math.min(length, most + 1))
    },
    /** There is no name that it could be asked by. */
    async sums() {
      return []
    },
  }
}

/** Nothing, for each of so many; whatever is added up of it is 0. */
export const emptyListing = <Item>(count: number): Listing<Item, string> => ({
  ...listingOfArrays<Item>(Array.from({ length: count }, () => [])),
  sums: async () => Array.from({ length: count }, () => 0),
})

const cursorOfPlace = (place: number): string => Buffer.from(String(place)).toString('base64url')

/** @throws DomainError `parameters` */
function placeOf(cursor: string): number {
  const text = Buffer.from(cursor, 'base64url').toString()
  if (/^\d{1,9}$/.test(text)) return Number(text)
  throw invalidCursor()
}

/** A query, of whatever tables. */
interface RowsQuery<Row> extends OperationNodeSource {
  compile(): { readonly parameters: readonly unknown[] }
  execute(): Promise<Row[]>
}

/**
 * The rows of each query in its own order, by one statement, or by several with others' turns in between.
 *
 * @param maxRows of each of them
 * @throws DomainError `impossible` when they are too many
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
      // Numbered, because the whole has no order of its own.
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

/** They are of one kind: the first tells of how many values each is. */
function listsPerStatement([query]: readonly RowsQuery<unknown>[]): number {
  const values = query?.compile().parameters.length ?? 0
  return Math.max(1, Math.min(LISTS_PER_STATEMENT, Math.floor(VALUES_PER_STATEMENT / Math.max(values, 1))))
}
