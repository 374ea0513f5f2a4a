import { foldedSql, textCondition } from '@penstock/db'
import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { never } from './conditions.ts'
import type { ReadContext } from './store-context.ts'

/** The columns that lists search with an index. A change needs a migration, which calls `addSearchIndex`. */
const indexedColumns = {
  issues: ['title', 'description'],
  merge_requests: ['title', 'description'],
  milestones: ['title', 'description'],
  labels: ['name', 'description'],
  projects: ['name', 'path', 'description', 'full_path'],
  groups: ['name', 'path'],
  users: ['name', 'username'],
} as const

/**
 * Returns the condition that one of the columns contains the text, in any letter case. `%` and `_` in the text are
 * literal.
 *
 * @param columns of one table, with its name: `users.name`
 */
export function containsText(
  { db }: Pick<ReadContext, 'db'>,
  columns: readonly string[],
  text: string,
): RawBuilder<SqlBool> {
  if (columns.length === 0) return never
  if (text !== '') return textCondition(db, { columns, words: [text], isIndexed: isIndexed(columns) })
  return sql<SqlBool>`coalesce(${sql.join([...columns.map((column) => sql.ref(column)), sql`null`])}) is not null`
}

/**
 * Returns the condition that each word of the text occurs in one of the columns, in any order and letter case; `undefined` if there
 * is no word.
 */
export function containsWords(
  { db }: Pick<ReadContext, 'db'>,
  columns: readonly string[],
  text: string | undefined,
): RawBuilder<SqlBool> | undefined {
  const words = [...new Set(text?.split(/\s+/).filter((word) => word !== ''))]
  if (words.length === 0) return undefined
  return columns.length === 0 ? never : textCondition(db, { columns, words, isIndexed: isIndexed(columns) })
}

function isIndexed(columns: readonly string[]): boolean {
  const indexed: Readonly<Record<string, readonly string[]>> = indexedColumns
  return columns.every((column) => {
    const [table, name] = column.split('.') as [string, string]
    return indexed[table]?.includes(name) === true
  })
}

/** Returns 2 if one of the columns equals the text, 1 if one begins with it, else 0; in any letter case. */
export function matchRank(columns: readonly string[], text: string): RawBuilder<number> {
  const wanted = foldedSql(sql`${text}`)
  const start = foldedSql(sql`${`${text.replaceAll(/[\\%_]/g, '\\$&')}%`}`)
  const some = (test: (column: RawBuilder<string>) => RawBuilder<SqlBool>) =>
    sql.join(
      columns.map((column) => test(foldedSql(sql.ref(column)))),
      sql` or `,
    )
  return sql<number>`case when ${some((column) => sql`${column} = ${wanted}`)} then 2
    when ${some((column) => sql`${column} like ${start} escape '\\'`)} then 1 else 0 end`
}
