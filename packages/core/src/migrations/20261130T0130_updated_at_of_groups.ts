import type { Migration } from 'kysely'

/** The time of the last change of groups and memberships; null in rows that have not changed since this migration. */
export const migration: Migration = {
  async up(db) {
    for (const table of ['groups', 'members']) {
      await db.schema.alterTable(table).addColumn('updated_at_ms', 'bigint').execute()
    }
  },
}
