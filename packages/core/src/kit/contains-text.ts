import { foldedSql } from '@penstock/db'
import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { never } from './conditions.ts'

/**
 * Returns the condition that one of the columns contains the text, in any letter case. `%` and `_` in the text are
 * literal.
 *
 * @param columns may name their table: `users.name`. The condition is false if there is no column.
 */
export function containsText(columns: readonly string[], text: string): RawBuilder<SqlBool> {
  const pattern = foldedSql(sql`${`%${text.replaceAll(/[\\%_]/g, '\\$&')}%`}`)
  if (columns.length === 0) return never
  const hits = columns.map((column) => sql<SqlBool>`${foldedSql(sql.ref(column))} like ${pattern} escape '\\'`)
  return sql<SqlBool>`(${sql.join(hits, sql` or `)})`
}

/**
 * Returns, for each word of the text, the condition that one of the columns contains the word. Order and letter case
 * are ignored.
 */
export function containsWords(columns: readonly string[], text: string | undefined): RawBuilder<SqlBool>[] {
  const words = text?.split(/\s+/).filter((word) => word !== '') ?? []
  return words.map((word) => containsText(columns, word))
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
