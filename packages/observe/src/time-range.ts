import { type RawBuilder, sql } from 'kysely'

/** Nanoseconds since 1970; a missing end is open. */
export interface TimeRange {
  /** Inclusive. */
  readonly sinceNs?: bigint | undefined
  /** Exclusive. */
  readonly untilNs?: bigint | undefined
}

/** What an open end means to SQLite's 64-bit integers. */
export const rangeEnds = ({ sinceNs = 0n, untilNs = 2n ** 63n - 1n }: TimeRange) => ({ sinceNs, untilNs })

/** A 64-bit column, digit by digit. */
export const exactText = (column: string): RawBuilder<string> => sql<string>`cast(${sql.ref(column)} as text)`
