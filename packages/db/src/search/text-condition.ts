import { type Kysely, PostgresAdapter, type RawBuilder, type SqlBool, sql } from 'kysely'
import { foldedSql } from '../rows/folded-text.ts'
import { searchExpression } from './search-tokens.ts'

/** How a statement searches: with an index, or by reading every text that its other conditions admit. */
export type SearchLane = 'indexed' | 'scanning'

/** Comments in statements that search, by which connections recognize them. */
const marks: Readonly<Record<SearchLane, string>> = {
  indexed: '/* searches texts by an index */',
  scanning: '/* searches texts by reading them */',
}

/** Returns how the statement searches texts; `undefined` if it does not. If one of several searches scans, the statement scans. */
export function searchLane(statement: string): SearchLane | undefined {
  if (statement.includes(marks.scanning)) return 'scanning'
  return statement.includes(marks.indexed) ? 'indexed' : undefined
}

/** The number of characters of a word that PostgreSQL looks up in its index; it compares the others with the texts found. */
const MAX_INDEXED_CHARACTERS = 32

export interface TextSearch {
  /** The columns of one table, with its name: `issues.title`. */
  readonly columns: readonly string[]
  /** Each word must occur in one of the columns, in any letter case. None is empty. */
  readonly words: readonly string[]
  /** Whether `addSearchIndex` was called for the columns. */
  readonly isIndexed: boolean
}

/**
 * Returns the condition that a row has the words. A statement with this condition runs beside the event loop for a limited time;
 * see `SEARCH_BUDGET_MS`.
 */
export function textCondition(
  db: Pick<Kysely<never>, 'getExecutor'>,
  { columns, words, isIndexed }: TextSearch,
): RawBuilder<SqlBool> {
  const expression = isIndexed ? searchExpression(words) : undefined
  const mark = sql.raw(marks[expression === undefined ? 'scanning' : 'indexed'])
  if (db.getExecutor().adapter instanceof PostgresAdapter) {
    return sql<SqlBool>`(${mark} ${sql.join(
      words.map((word) => isInSomeColumn(columns, word)),
      sql` and `,
    )})`
  }
  const compared = sql<SqlBool>`contains_words(${JSON.stringify(words)}, ${sql.join(columns.map((column) => sql.ref(column)))})`
  if (expression === undefined) return sql<SqlBool>`(${mark} ${compared})`
  const table = columns[0]!.split('.', 1)[0]!
  const index = searchIndexName(table)
  return sql<SqlBool>`(${mark} ${sql.ref(`${table}.id`)} in
    (select rowid from ${sql.table(index)} where ${sql.ref(index)} match ${expression}) and ${compared})`
}

/** Returns the name of the search index of a table: an FTS5 table on SQLite, a GIN index on PostgreSQL. */
export const searchIndexName = (table: string): string => `${table}_search`

function isInSomeColumn(columns: readonly string[], word: string): RawBuilder<SqlBool> {
  const start = [...word].slice(0, MAX_INDEXED_CHARACTERS).join('')
  const pattern = foldedSql(sql`${`%${start.replaceAll(/[\\%_]/g, '\\$&')}%`}`)
  const tests = columns.map((column) => {
    const text = foldedSql(sql.ref(column))
    const hasStart = sql<SqlBool>`${text} like ${pattern} escape '\\'`
    return start === word ? hasStart : sql<SqlBool>`(${hasStart} and strpos(${text}, ${foldedSql(sql`${word}`)}) > 0)`
  })
  return sql<SqlBool>`(${sql.join(tests, sql` or `)})`
}
