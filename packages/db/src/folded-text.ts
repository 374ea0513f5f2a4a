import { type Kysely, PostgresAdapter, type RawBuilder, sql } from 'kysely'

/**
 * Text without the difference between capital and small letters, whatever the alphabet: for `ÄÖÜ` what it is for `äöü`, and
 * all three sigmas are one. `ß` is no `ss`, and an accent counts.
 *
 * SQLite calls it under the name `folded`, on every connection; PostgreSQL has a function of that name which does the same,
 * once `addFolded` has been in a migration. What the databases themselves call `lower` differs: SQLite's knows ASCII alone,
 * PostgreSQL's depends on the locale it was made with.
 */
export const folded = (text: string): string => text.toLowerCase().replaceAll('ς', 'σ')

/** For queries: `folded` of a column or a value. */
export const foldedSql = (text: RawBuilder<unknown>): RawBuilder<string> => sql<string>`folded(${text})`

/** The collations that know every alphabet, the best first: of ICU, or built in from PostgreSQL 17 on. */
const collations = ['und-x-icu', 'pg_c_utf8']

/** For a migration. A PostgreSQL that has none of the collations folds as its own locale does. */
export async function addFolded(db: Kysely<unknown>): Promise<void> {
  if (!(db.getExecutor().adapter instanceof PostgresAdapter)) return
  const { rows } = await sql<{ name: string }>`
    select collname as name from pg_collation where collname in (${sql.join(collations)})`.execute(db)
  const collation = collations.find((name) => rows.some((row) => row.name === name)) ?? 'default'
  await sql`create function folded(text) returns text language sql immutable strict parallel safe
    as ${sql.lit(`select replace(lower($1 collate pg_catalog."${collation}"), 'ς', 'σ')`)}`.execute(db)
}
