import type Sqlite from 'better-sqlite3'
import type { SqliteDatabase, SqliteStatement } from 'kysely'
import { ReadStatement, type SchemaVersion } from './read-statement.ts'

/** The maximum number of cached statements per connection; the least recently used one is evicted. */
const MAX_STATEMENTS = 250
/** The maximum length of a cached statement's text. Longer ones, such as inserts of many rows, are rarely repeated. */
const MAX_TEXT_LENGTH = 10_000
const schemaChange = /^\s*(?:alter|create|drop)\b/i

/**
 * Adapts a connection for Kysely, with a cache of prepared statements: preparing one takes about as long as running it, and
 * most queries are repeated. After a schema change, SQLite prepares cached statements again by itself.
 *
 * @param schema shared by the connections to a file
 */
export function withStatementCache(database: Sqlite.Database, schema: SchemaVersion = { changes: 0 }): SqliteDatabase {
  const cache = new Map<string, SqliteStatement>()
  return {
    prepare(text) {
      const known = cache.get(text)
      const statement = known ?? prepared(database, text, schema)
      if (known === undefined && !isCached(text)) return statement
      // Moves the statement to the end: a map keeps its keys in insertion order, so the first is the least recently used.
      cache.delete(text)
      cache.set(text, statement)
      if (cache.size > MAX_STATEMENTS) cache.delete(cache.keys().next().value!)
      return statement
    },
    close: () => void database.close(),
  }
}

const isCached = (text: string): boolean => text.length <= MAX_TEXT_LENGTH && !schemaChange.test(text)

function prepared(database: Sqlite.Database, text: string, schema: SchemaVersion): SqliteStatement {
  const statement = database.prepare(text)
  if (statement.reader) return new ReadStatement(statement, schema)
  if (schemaChange.test(text)) schema.changes += 1
  return statement as SqliteStatement
}
