import Sqlite from 'better-sqlite3'
import { isBusy } from './is-busy.ts'

/** Returns whether another connection, in this or another process, has the SQLite file open. A damaged file is not in use. */
export function isInUse(file: string): boolean {
  const database = new Sqlite(file, { fileMustExist: true, timeout: 0 })
  try {
    // Every open connection of a file with a write-ahead log prevents this lock, also an idle one.
    database.pragma('locking_mode = exclusive')
    database.exec('begin exclusive; rollback')
    return false
  } catch (error) {
    return isBusy(error)
  } finally {
    database.close()
  }
}

/** Returns the first problem in the pages of an SQLite file, or `undefined` if it is intact. */
export function findDamage(file: string): string | undefined {
  const database = new Sqlite(file, { fileMustExist: true })
  try {
    const result = database.pragma('quick_check(1)', { simple: true }) as string
    return result === 'ok' ? undefined : result
  } catch (error) {
    if (!(error instanceof Sqlite.SqliteError)) throw error
    return error.message
  } finally {
    database.close()
  }
}
