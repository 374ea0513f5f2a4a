import { performance } from 'node:perf_hooks'
import type { Position } from './cursor.ts'

/** A list in which a text can be searched for, although the store has no index of texts. */
export interface SearchedList<Row> {
  /** Returns the position of the last row of the window after a position; `undefined` if the window has all the rest. */
  endOfWindow(after: Position | undefined): Promise<Position | undefined>
  /** Returns the rows of a window that may match, in the order of the list. Both ends can be open; the last one belongs to it. */
  rows(after: Position | undefined, end: Position | undefined): AsyncIterable<Row>
  positionOf(row: Row): Position
  isMatch(row: Row): boolean
}

/** The ids of the rows that were found, and how far the search came. */
export interface Matches {
  /** In the order of the list. */
  readonly ids: readonly number[]
  /** Where the next search goes on; `undefined` if everything was searched. */
  readonly next: Position | undefined
  /** Whether the search ended because of its time limit. */
  readonly isLate: boolean
}

export interface SearchPage {
  readonly limit: number
  readonly after: Position | undefined
  readonly now?: () => number
}

/** The time limit of one search. A longer one goes on with the cursor. */
const MAX_SEARCH_MS = 350

/** Reads a list in windows until the page is full or the time is over, and returns the ids of the first rows that match. */
export async function searchInWindows<Row extends { readonly id: number }>(
  list: SearchedList<Row>,
  { limit, after, now = () => performance.now() }: SearchPage,
): Promise<Matches> {
  const deadline = now() + MAX_SEARCH_MS
  const ids: number[] = []
  let position = after
  for (;;) {
    const end = await list.endOfWindow(position)
    for await (const row of list.rows(position, end)) {
      if (list.isMatch(row)) ids.push(row.id)
      const here = list.positionOf(row)
      if (ids.length === limit) return { ids, next: here, isLate: false }
      if (now() > deadline) return { ids, next: here, isLate: true }
    }
    if (end === undefined) return { ids, next: undefined, isLate: false }
    position = end
    if (now() > deadline) return { ids, next: end, isLate: true }
  }
}

/** Returns a pattern of `like … escape '\'` that finds a text anywhere. */
export const containsPattern = (text: string): string => `%${text.replace(/[%_\\]/g, '\\$&')}%`

/** Returns the longest part of a text that separators leave. */
export function longestPart(text: string, separators: RegExp): string {
  return text.split(separators).reduce((best, part) => (part.length > best.length ? part : best), '')
}
