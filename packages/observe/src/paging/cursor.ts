import { createHash } from 'node:crypto'
import { MAX_SQL_INTEGER } from '../schema/time-range.ts'

/** The values of a list's order in the last item of a page; the next page starts after them. */
export type Position = readonly string[]

/** A row of a query, and the item that it becomes in the answer. */
export interface RowItem<Row, Item> {
  readonly row: Row
  readonly item: Item
}

/** One page of a list. */
export interface Page<Item> {
  readonly items: readonly Item[]
  /** The position of the last item; `undefined` on the last page. */
  readonly next: Position | undefined
}

/** A page of a list that may have been searched. */
export interface SearchedPage<Item> extends Page<Item> {
  /** Whether the search ended before the end of the list, because of its time limit. */
  readonly isLate: boolean
}

/** Tells apart cursors of different lists and of later formats. */
const tagOf = (list: string): string => createHash('sha256').update(`1 ${list}`).digest('base64url').slice(0, 4)

/** Returns the opaque text of a position in a list. */
export const toCursor = (list: string, position: Position): string =>
  tagOf(list) + Buffer.from(JSON.stringify(position)).toString('base64url')

/** The forms of the values in a position. */
const patterns = { integer: /^\d{1,19}$/, id: /^[0-9a-f]{32}$/, text: /^/ } as const
export type PositionShape = readonly (keyof typeof patterns)[]

/** Returns the position in a cursor; `undefined` for a text that is no cursor of this list. */
export function fromCursor(list: string, shape: PositionShape, cursor: string): Position | undefined {
  const tag = tagOf(list)
  if (!cursor.startsWith(tag)) return undefined
  let values: unknown
  try {
    values = JSON.parse(Buffer.from(cursor.slice(tag.length), 'base64url').toString())
  } catch {
    return undefined
  }
  const isPosition =
    Array.isArray(values) &&
    values.length === shape.length &&
    values.every(
      (value, index) =>
        typeof value === 'string' &&
        patterns[shape[index]!].test(value) &&
        (shape[index] !== 'integer' || BigInt(value) <= MAX_SQL_INTEGER),
    )
  return isPosition ? (values as string[]) : undefined
}

/** Cuts the rows of a query with `limit + 1` to a page. A page that ends early, because the answer is full, has a next one. */
export function toPage<Row, Item>(
  rows: readonly RowItem<Row, Item>[],
  { limit, isTruncated }: { readonly limit: number; readonly isTruncated: boolean },
  positionOf: (row: Row) => Position,
): Page<Item> {
  const page = rows.slice(0, limit)
  const hasMore = rows.length > limit || isTruncated
  return {
    items: page.map(({ item }) => item),
    next: hasMore && page.length > 0 ? positionOf(page.at(-1)!.row) : undefined,
  }
}
