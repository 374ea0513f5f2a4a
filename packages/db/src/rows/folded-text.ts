import { type Kysely, PostgresAdapter, type RawBuilder, sql } from 'kysely'

/**
 * Returns text in lower case, for comparisons that ignore case in any alphabet: `ÄÖÜ` equals `äöü`, and all forms of sigma
 * are equal. `ß` differs from `ss`, and accents count.
 *
 * SQLite connections have this as the SQL function `folded`. PostgreSQL has an equivalent function after a migration has
 * called `addFolded`. The SQL function `lower` is not used, because SQLite's handles only ASCII, and PostgreSQL's depends on
 * the locale of the database.
 */
export const folded = (text: string): string => text.toLowerCase().replaceAll('ς', 'σ')

/** Returns SQL that applies `folded` to a column or a value. */
export const foldedSql = (text: RawBuilder<unknown>): RawBuilder<string> => sql<string>`folded(${text})`

/** The collations that handle every alphabet, in order of preference: from ICU, or built in since PostgreSQL 17. */
const collations = ['und-x-icu', 'pg_c_utf8']

/**
 * Creates the SQL function `folded` in PostgreSQL; call it in a migration. If none of `collations` exists, it uses that
 * of the locale.
 */
export async function addFolded(db: Kysely<unknown>): Promise<void> {
  if (!(db.getExecutor().adapter instanceof PostgresAdapter)) return
  const { rows } = await sql<{ name: string }>`
    select collname as name from pg_collation where collname in (${sql.join(collations)})`.execute(db)
  const collation = collations.find((name) => rows.some((row) => row.name === name)) ?? 'default'
  await sql`create function folded(text) returns text language sql immutable strict parallel safe
    as ${sql.lit(`select replace(lower($1 collate pg_catalog."${collation}"), 'ς', 'σ')`)}`.execute(db)
}
