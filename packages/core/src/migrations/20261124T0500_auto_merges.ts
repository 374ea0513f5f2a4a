import type { Migration } from 'kysely'

/** Merges that wait for the pipeline of the source branch. */
export const migration: Migration = {
  async up(db) {
    await db.schema
      .createTable('merge_request_auto_merges')
      .addColumn('merge_request_id', 'integer', (column) =>
        column.primaryKey().references('merge_requests.id').onDelete('cascade'),
      )
      .addColumn('user_id', 'integer', (column) => column.notNull().references('users.id').onDelete('cascade'))
      .addColumn('sha', 'text', (column) => column.notNull())
      .addColumn('options', 'text', (column) => column.notNull())
      .addColumn('is_due', 'integer', (column) => column.notNull().defaultTo(0))
      .addColumn('created_at_ms', 'bigint', (column) => column.notNull())
      .execute()
    const index = (name: string) => db.schema.createIndex(`auto_merges_${name}`).on('merge_request_auto_merges')
    await index('user').column('user_id').execute()
    await index('due').column('is_due').execute()
  },
}
