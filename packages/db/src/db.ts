import type { Kysely, Transaction } from 'kysely'

/** At work and waiting together: what a client would wait for longer than it has patience. */
export const MAX_PENDING_WRITES = 1_000

/**
 * A database of tables `Tables`. Everything is async, so that another database is a setting and not a rewrite.
 *
 * Nothing outside the database may be awaited inside `write`, nor another `write`: every other writer waits meanwhile, and
 * work that stands still, which is to ask nothing of the database, is given up after 30 s. A statement that fails inside `write`
 * has to end it: SQLite would go on, PostgreSQL keeps nothing of such a transaction.
 */
export interface Db<Tables> {
  /** For queries outside any transaction; sees what has been committed, and cannot write. */
  readonly read: Kysely<Tables>
  /**
   * Runs `work` in a transaction of its own, after those asked for before, and never beside another one of any process.
   * A rejection rolls it back and is passed on; statements that come after its end are refused. While `MAX_PENDING_WRITES` of this
   * process are unfinished, one more is refused with an error that is `isUnavailable`.
   */
  write<Result>(work: (tx: Transaction<Tables>) => Promise<Result>, options?: WriteOptions): Promise<Result>
  /** Waits for the writes asked for before. */
  close(): Promise<void>
}

export interface WriteOptions {
  /**
   * Lifts the limits of PostgreSQL on a statement and on the wait for the writers of other processes, and that of SQLite on
   * work that stands still; it has none on a statement, and keeps its own on the wait.
   */
  readonly noTimeout?: boolean
}
