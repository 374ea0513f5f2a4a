import Sqlite from 'better-sqlite3'
import { isBusy } from './is-busy.ts'

/** A lock that the operating system releases when the process ends, even after a crash. */
export interface UseLock {
  release(): void
}

/**
 * Locks `file` together with other users of it, and creates it if necessary. The lock is SQLite's read lock; the file stays empty.
 *
 * @returns `undefined` while another process holds the lock exclusively
 * @throws SqliteError if the file cannot be used or is not a lock file
 */
export const lockShared = (file: string): UseLock | undefined => lock(file, 'begin; select 1 from sqlite_schema')

/**
 * Locks `file` as its only user. Returns `undefined` while another user holds the lock, in this or another process.
 *
 * @throws SqliteError if the file cannot be used or is not a lock file
 */
export const lockExclusively = (file: string): UseLock | undefined => lock(file, 'begin exclusive')

function lock(file: string, statement: string): UseLock | undefined {
  const database = new Sqlite(file, { timeout: BUSY_TIMEOUT_MS })
  try {
    database.exec(statement)
    return { release: () => void database.close() }
  } catch (error) {
    database.close()
    if (isBusy(error)) return undefined
    throw error
  }
}

/** How long to wait for a process that only tries to lock the file at the same moment. */
const BUSY_TIMEOUT_MS = 200
