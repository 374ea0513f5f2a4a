import type Sqlite from 'better-sqlite3'
import type { SqliteDatabase, SqliteStatement } from 'kysely'

/** The maximum number of cached statements per connection; the least recently used one is evicted. */
const MAX_STATEMENTS = 250
/** The maximum length of a cached statement's text. Longer ones, such as inserts of many rows, are rarely repeated. */
const MAX_TEXT_LENGTH = 10_000

/**
 * Adapts a connection for Kysely, with a cache of prepared statements: preparing one takes about as long as running it, and
 * most queries are repeated. After a schema change, SQLite prepares cached statements again by itself.
 */
export function withStatementCache(database: Sqlite.Database): SqliteDatabase {
  const cache = new Map<string, SqliteStatement>()
  return {
    prepare(text) {
      const statement = cache.get(text) ?? database.prepare(text)
      if (text.length > MAX_TEXT_LENGTH) return statement
      // Moves the statement to the end: a map keeps its keys in insertion order, so the first is the least recently used.
      cache.delete(text)
      cache.set(text, statement)
      if (cache.size > MAX_STATEMENTS) cache.delete(cache.keys().next().value!)
      return statement
    },
    close: () => void database.close(),
  }
}
