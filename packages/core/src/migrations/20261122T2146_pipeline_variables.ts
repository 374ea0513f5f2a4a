import type { Migration } from 'kysely'

/**
 * The variables of pipelines, apart from the pipelines because only their own list shows them, and the jobs that job
 * tokens name.
 */
export const migration: Migration = {
  async up(db) {
    await db.schema
      .createTable('pipeline_variables')
      .addColumn('pipeline_key', 'integer', (column) =>
        column.primaryKey().references('pipelines.id').onDelete('cascade'),
      )
      .addColumn('sealed', 'text', (column) => column.notNull())
      .execute()
    await db.schema.alterTable('job_tokens').addColumn('job_id', 'bigint').execute()
  },
}
