import type { Migration } from 'kysely'

/** Whether the branches of a merge request can be merged, for one pair of their heads. */
export const migration: Migration = {
  async up(db) {
    await db.schema
      .createTable('merge_checks')
      .addColumn('merge_request_id', 'integer', (column) =>
        column.primaryKey().references('merge_requests.id').onDelete('cascade'),
      )
      .addColumn('source_sha', 'text', (column) => column.notNull())
      .addColumn('target_sha', 'text', (column) => column.notNull())
      .addColumn('outcome', 'text', (column) => column.notNull())
      .addColumn('is_behind', 'integer', (column) => column.notNull())
      .execute()
  },
}
