import type { Position } from '../paging/cursor.ts'

/** A part of a list in time, for one statement. */
export interface Window {
  /** Inclusive, in nanoseconds. */
  readonly from: bigint
  /** Exclusive. */
  readonly to: bigint
  /** Rows have to come after it in the list, which means that they are older. */
  readonly after: Position
}

/** Some rows of a list, in its order. */
export interface Batch<Row> {
  readonly rows: readonly Row[]
  /** Where the list goes on; `undefined` at its end. */
  readonly next: Position | undefined
}

interface Walk {
  /** Inclusive: the time of the first row of the table, or a later one. */
  readonly oldestNs: bigint
  /** Exclusive. */
  readonly newestNs: bigint
  readonly after: Position | undefined
  /** A key that no row has, and that comes before all others. */
  readonly lowestKey: string
  /** The most rows that one statement returns. */
  readonly batchRows: number
  /** Whether the first window is the whole range, because a statement for the latest rows reads few others. */
  readonly isWhole?: boolean
}

const FIRST_WINDOW_NS = 15n * 60n * 1_000_000_000n
const GROWTH = 4n

/**
 * Reads a list backwards in time, in windows that grow while they have few rows. The exporter's tables are sorted by service first, so a
 * statement for the latest rows of all time would read all of them.
 */
export async function* backwards<Row>(
  { oldestNs, newestNs, lowestKey, batchRows, isWhole = false, ...walk }: Walk,
  read: (window: Window) => Promise<readonly Row[]>,
  positionOf: (row: Row) => Position,
): AsyncGenerator<Batch<Row>> {
  let after: Position = walk.after ?? [String(newestNs), lowestKey]
  let to = BigInt(after[0]!) + 1n
  if (to > newestNs) to = newestNs
  let width = isWhole ? newestNs - oldestNs : FIRST_WINDOW_NS
  let from = later(to - width, oldestNs)
  while (to > oldestNs) {
    const rows = await read({ from, to, after })
    if (rows.length >= batchRows) {
      after = positionOf(rows.at(-1)!)
      yield { rows, next: after }
      to = smaller(BigInt(after[0]!) + 1n, to)
      continue
    }
    after = [String(from), lowestKey]
    yield { rows, next: from > oldestNs ? after : undefined }
    to = from
    width *= GROWTH
    from = later(to - width, oldestNs)
  }
}

const later = (a: bigint, b: bigint): bigint => (a > b ? a : b)
const smaller = (a: bigint, b: bigint): bigint => (a < b ? a : b)
