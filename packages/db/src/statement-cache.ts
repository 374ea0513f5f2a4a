import type Sqlite from 'better-sqlite3'
import type { SqliteDatabase, SqliteStatement } from 'kysely'

/** Kept for each connection; of further ones those make room that have not been used for longest. */
const MAX_STATEMENTS = 250
/** Longer ones, as for many rows at once, are rarely the same again. */
const MAX_TEXT_LENGTH = 10_000

/**
 * The connection as Kysely takes it, with statements that stay prepared: to prepare one costs about as much as to run it,
 * and what is asked comes again and again. After a change of the tables SQLite prepares them anew by itself.
 */
export function withStatementCache(database: Sqlite.Database): SqliteDatabase {
  const kept = new Map<string, SqliteStatement>()
  return {
    prepare(text) {
      const statement = kept.get(text) ?? database.prepare(text)
      if (text.length > MAX_TEXT_LENGTH) return statement
      // Behind all others: a map keeps the order in which its keys came.
      kept.delete(text)
      kept.set(text, statement)
      if (kept.size > MAX_STATEMENTS) kept.delete(kept.keys().next().value!)
      return statement
    },
    close: () => void database.close(),
  }
}
