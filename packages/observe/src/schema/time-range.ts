import { type RawBuilder, sql } from 'kysely'

/** A range in nanoseconds since 1970; a missing end is open. */
export interface TimeRange {
  /** Inclusive. */
  readonly sinceNs?: bigint | undefined
  /** Exclusive. */
  readonly untilNs?: bigint | undefined
}

/** The largest integer that SQLite stores. */
export const MAX_SQL_INTEGER = 2n ** 63n - 1n

/** Returns the nearest time that SQLite can store. */
export const toSqlInteger = (value: bigint): bigint => (value > MAX_SQL_INTEGER ? MAX_SQL_INTEGER : value)

/** Replaces open ends by the limits of SQLite's 64-bit integers. */
export const rangeEnds = ({ sinceNs = 0n, untilNs = MAX_SQL_INTEGER }: TimeRange) => ({ sinceNs, untilNs })

/** Selects a 64-bit column as text, so that no digit is lost. */
export const exactText = (column: string): RawBuilder<string> => sql<string>`cast(${sql.ref(column)} as text)`
