import process from 'node:process'
import Sqlite from 'better-sqlite3'
import { isBusy } from './is-busy.ts'

export type FileLock =
  | { readonly kind: 'acquired'; release(): void }
  /** `processId` is the process that holds the lock, or `undefined` if it is unknown. */
  | { readonly kind: 'held'; readonly processId: number | undefined }

/** How long to wait for another process that reads the holder's process id at the same moment. */
const BUSY_TIMEOUT_MS = 1_000

/**
 * Locks `file` for this process, and creates it if necessary. The operating system releases the lock when the process ends,
 * even after a crash. The file stays; without a lock it has no meaning.
 *
 * The lock is SQLite's write lock. Other processes can still read the file, and find the holder's process id in it.
 *
 * @throws SqliteError if the file cannot be used or is not a lock file
 */
export function lockFile(file: string): FileLock {
  const database = new Sqlite(file, { timeout: 0 })
  let hasWrittenId = false
  let isAcquired = false
  try {
    database.pragma('synchronous = OFF')
    database.exec('begin immediate')
    database.pragma(`busy_timeout = ${BUSY_TIMEOUT_MS}`)
    // The process id must be committed to be readable. Another process may take the lock between the two transactions.
    database.exec(`pragma user_version = ${process.pid}; commit`)
    hasWrittenId = true
    database.exec('begin immediate')
    isAcquired = true
    return { kind: 'acquired', release: () => void database.close() }
  } catch (error) {
    if (!isBusy(error)) throw error
    const processId = findHolder(database)
    // If another process took the lock in between and has not written its id yet, the file still has our own id.
    return { kind: 'held', processId: hasWrittenId && processId === process.pid ? undefined : processId }
  } finally {
    if (!isAcquired) database.close()
  }
}

function findHolder(database: Sqlite.Database): number | undefined {
  // Our own commit failed because of a reader, so no other process holds the lock.
  if (database.inTransaction) return undefined
  try {
    return (database.pragma('user_version', { simple: true }) as number) || undefined
  } catch (error) {
    if (isBusy(error)) return undefined
    throw error
  }
}
