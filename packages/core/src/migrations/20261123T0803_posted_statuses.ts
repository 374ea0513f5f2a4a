import type { Migration } from 'kysely'

/**
 * Marks statuses that programs post for a commit, and the pipelines that contain nothing else. Records do not change them.
 */
export const migration: Migration = {
  async up(db) {
    for (const table of ['pipelines', 'pipeline_jobs']) {
      await db.schema
        .alterTable(table)
        .addColumn('is_posted', 'integer', (column) => column.notNull().defaultTo(0))
        .execute()
    }
  },
}
