import { foldedSql } from '@penstock/db'
import { type RawBuilder, type SqlBool, sql } from 'kysely'

/**
 * Whether one of the columns holds the text, in any letter case; `%` and `_` in the text stand for themselves.
 *
 * @param columns may name their table: `users.name`
 */
export function containsText(columns: readonly string[], text: string): RawBuilder<SqlBool> {
  const pattern = foldedSql(sql`${`%${text.replaceAll(/[\\%_]/g, '\\$&')}%`}`)
  const hits = columns.map((column) => sql<SqlBool>`${foldedSql(sql.ref(column))} like ${pattern} escape '\\'`)
  return sql<SqlBool>`(${sql.join(hits, sql` or `)})`
}

/** Whether each of the words stands in one of the columns, as a part of it, in any order and letter case. */
export function containsWords(columns: readonly string[], text: string | undefined): RawBuilder<SqlBool>[] {
  const words = text?.split(/\s+/).filter((word) => word !== '') ?? []
  return words.map((word) => containsText(columns, word))
}
