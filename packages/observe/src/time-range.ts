import { type RawBuilder, sql } from 'kysely'

/** A range in nanoseconds since 1970; a missing end is open. */
export interface TimeRange {
  /** Inclusive. */
  readonly sinceNs?: bigint | undefined
  /** Exclusive. */
  readonly untilNs?: bigint | undefined
}

/** Replaces open ends by the limits of SQLite's 64-bit integers. */
export const rangeEnds = ({ sinceNs = 0n, untilNs = 2n ** 63n - 1n }: TimeRange) => ({ sinceNs, untilNs })

/** Selects a 64-bit column as text, so that no digit is lost. */
export const exactText = (column: string): RawBuilder<string> => sql<string>`cast(${sql.ref(column)} as text)`
