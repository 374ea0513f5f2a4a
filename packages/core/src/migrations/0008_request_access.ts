import type { Migration } from 'kysely'

/** Whether users may request membership. */
export const migration: Migration = {
  async up(db) {
    for (const table of ['groups', 'projects'])
      await db.schema
        .alterTable(table)
        .addColumn('request_access_enabled', 'integer', (column) => column.notNull().defaultTo(1))
        .execute()
  },
}
