import type { Kysely, Transaction } from 'kysely'
import type { CoreTables } from './tables.ts'

/** The database to read from, and the current time, which stays the same during one operation. */
export interface ReadContext {
  readonly db: Kysely<CoreTables>
  readonly nowMs: number
}

/** The database to write to: a transaction, and the time at which it began. */
export interface WriteContext extends ReadContext {
  readonly db: Transaction<CoreTables>
}
