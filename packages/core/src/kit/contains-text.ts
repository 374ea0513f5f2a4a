import { type SqlBool, sql } from 'kysely'

/**
 * Whether a column holds the text, in any letter case; `%` and `_` in the text stand for themselves.
 *
 * @param column may name its table: `users.name`
 */
export const containsText = (column: string, text: string) =>
  sql<SqlBool>`lower(${sql.ref(column)}) like lower(${`%${text.replaceAll(/[\\%_]/g, '\\$&')}%`}) escape '\\'`
