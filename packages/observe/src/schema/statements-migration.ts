import type { Migrations } from '@penstock/db'
import { type Kysely, sql } from 'kysely'

/** Returns the migration that runs some statements one after another. */
export const statementsMigration = (statements: readonly string[]): Migrations[string] => ({
  async up(db: Kysely<unknown>) {
    for (const statement of statements) await sql.raw(statement).execute(db)
  },
})
