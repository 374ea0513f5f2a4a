import Sqlite from 'better-sqlite3'
import { Kysely, SqliteDialect, type Transaction } from 'kysely'

/**
 * A database of tables `Tables`. Everything is async, so that another database is a setting and not a rewrite.
 *
 * Nothing outside the database may be awaited inside `write`: every other writer waits meanwhile.
 */
export interface Db<Tables> {
  /** For queries outside any transaction; sees what has been committed. */
  readonly read: Kysely<Tables>
  /** Runs `work` in a transaction of its own, after those asked for before. A rejection rolls it back and is passed on. */
  write<Result>(work: (tx: Transaction<Tables>) => Promise<Result>): Promise<Result>
  close(): Promise<void>
}

const BUSY_TIMEOUT_MS = 5_000

/**
 * Opens or creates an SQLite file. A committed write survives the loss of the process and of power.
 *
 * Writers queue on a connection of their own: better-sqlite3 is synchronous, so on a shared one the statements of a
 * neighbour would land inside an open transaction and vanish with its rollback.
 */
export function openSqlite<Tables>(file: string): Db<Tables> {
  const writer = connect<Tables>(file, ['journal_mode = WAL', 'synchronous = FULL', 'foreign_keys = ON'])
  const read = connect<Tables>(file, ['query_only = ON'])
  let last: Promise<unknown> = Promise.resolve()
  return {
    read,
    write(work) {
      const result = last.then(() => writer.transaction().execute(work))
      last = result.catch(() => {})
      return result
    },
    async close() {
      await last
      await read.destroy()
      await writer.destroy()
    },
  }
}

function connect<Tables>(file: string, pragmas: readonly string[]): Kysely<Tables> {
  const database = new Sqlite(file, { timeout: BUSY_TIMEOUT_MS })
  for (const pragma of pragmas) database.pragma(pragma)
  return new Kysely<Tables>({ dialect: new SqliteDialect({ database }) })
}
