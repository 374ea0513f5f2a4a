import type { Kysely, Transaction } from 'kysely'
import type { ReadLimit } from './read-limit.ts'
import type { SessionLock } from './session-lock.ts'
import type { SharedCounter } from './shared-counter.ts'

/** The maximum number of writes that run or wait in one process. With more, clients would time out before their turn. */
export const MAX_PENDING_WRITES = 1_000

/**
 * A database with the tables `Tables`. Every method is async, so that SQLite and PostgreSQL have the same interface.
 *
 * Inside `write`, await only queries of its own transaction: all other writers wait for it, and work that runs no
 * statement for 30 s is aborted. If a statement fails inside `write`, the work must fail too: SQLite would commit the rest,
 * but PostgreSQL rolls back such a transaction.
 */
export interface Db<Tables> {
  /** Runs queries outside any transaction. It sees committed data only, and cannot write. */
  readonly read: Kysely<Tables>
  /**
   * Returns a handle like `read`. Its statements read only texts that the limit admits; without one, all texts.
   *
   * @param subscriber the reader, such as the address of a client. Searches of several subscribers take turns
   */
  readWithin(limit: ReadLimit | undefined, subscriber?: string): Kysely<Tables>
  /**
   * Runs `work` in a transaction, after all earlier writes, and never at the same time as a write of any process. If `work`
   * rejects, the transaction is rolled back and the error is passed on. Statements after the end of `work` fail. If
   * `MAX_PENDING_WRITES` of this process are unfinished, `write` rejects with an error that satisfies `isUnavailable`.
   */
  write<Result>(work: (tx: Transaction<Tables>) => Promise<Result>, options?: WriteOptions): Promise<Result>
  /**
   * Listens to the notifications in a channel, on a connection of its own. Only those that have the current schema as their
   * payload are reported, because schemas of one database share its channels. Missing on SQLite, where processes have to poll.
   */
  readonly listen?: (channel: string, options: ListenOptions) => NoticeListener
  /**
   * Returns the counters in a table, which all processes share. They count outside of transactions and do not wait for
   * writers. Missing on SQLite, where one process counts in its memory.
   */
  readonly counterIn?: (table: string) => SharedCounter
  /**
   * Takes a lock by its name, among all processes that use the schema; returns `undefined` if another process has it. Missing on
   * SQLite.
   */
  readonly lock?: (name: string) => Promise<SessionLock | undefined>
  /** Returns the time of the server in milliseconds since 1970. Missing on SQLite, which has the time of the process. */
  readonly nowMs?: () => Promise<number>
  /** Closes the database after all earlier writes are done. */
  close(): Promise<void>
}

export interface ListenOptions {
  /** Called for each notification, and whenever a connection begins to listen, because earlier notifications may be lost. */
  readonly onNotice: () => void
  /** Called when the connection is lost or cannot be made; again only after `onRestored`. */
  readonly onLost?: (error: unknown) => void
  readonly onRestored?: () => void
  /** Returns a number in [0, 1), which spreads the attempts to connect again. */
  readonly random: () => number
}

export interface NoticeListener {
  /** Ends the connection. Nothing is called any more after that. */
  close(): Promise<void>
}

export interface WriteOptions {
  /**
   * Lifts time limits, for migrations. On PostgreSQL: the limits on a statement and on the wait for writers of other
   * processes. On SQLite: the limit on work that runs no statement; the limit on the wait for other processes stays.
   */
  readonly noTimeout?: boolean
}
