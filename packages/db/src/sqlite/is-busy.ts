import Sqlite from 'better-sqlite3'

/** Returns whether an error is `SQLITE_BUSY` or one of its extended codes. */
export const isBusy = (error: unknown): boolean =>
  error instanceof Sqlite.SqliteError && error.code.startsWith('SQLITE_BUSY')
