import process from 'node:process'
import Sqlite from 'better-sqlite3'
import { isBusy } from './grouped-writes.ts'

export type FileLock =
  | { readonly kind: 'acquired'; release(): void }
  /** The process that has it, as far as that can be told. */
  | { readonly kind: 'held'; readonly processId: number | undefined }

/** For whoever asks at the same moment who holds it. */
const BUSY_TIMEOUT_MS = 1_000

/**
 * Takes `file`, made if need be, for this process alone. However the process ends, the operating system lets go of it then;
 * the file itself stays, and means nothing.
 *
 * The lock is that of a writer of SQLite, beside whom others can read; what they read is who he is.
 *
 * @throws SqliteError for a file that cannot be used, or is something else
 */
export function lockFile(file: string): FileLock {
  const database = new Sqlite(file, { timeout: 0 })
  let hasTold = false
  let isTaken = false
  try {
    database.pragma('synchronous = OFF')
    database.exec('begin immediate')
    database.pragma(`busy_timeout = ${BUSY_TIMEOUT_MS}`)
    // Only what has been committed can be read, and between the two somebody else may come.
    database.exec(`pragma user_version = ${process.pid}; commit`)
    hasTold = true
    database.exec('begin immediate')
    isTaken = true
    return { kind: 'acquired', release: () => void database.close() }
  } catch (error) {
    if (!isBusy(error)) throw error
    const processId = holderOf(database)
    // Ours is there when somebody came between the two, and has not told his own yet.
    return { kind: 'held', processId: hasTold && processId === process.pid ? undefined : processId }
  } finally {
    if (!isTaken) database.close()
  }
}

function holderOf(database: Sqlite.Database): number | undefined {
  // It was our commit that somebody kept waiting, who only reads.
  if (database.inTransaction) return undefined
  try {
    return (database.pragma('user_version', { simple: true }) as number) || undefined
  } catch (error) {
    if (isBusy(error)) return undefined
    throw error
  }
}
