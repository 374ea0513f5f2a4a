import type { Migration } from 'kysely'

/** When groups and memberships last changed; null in rows that have not changed since. */
export const migration: Migration = {
  async up(db) {
    for (const table of ['groups', 'members']) {
      await db.schema.alterTable(table).addColumn('updated_at_ms', 'bigint').execute()
    }
  },
}
