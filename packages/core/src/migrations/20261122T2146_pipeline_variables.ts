import type { Migration } from 'kysely'

/**
 * Adds the variables of pipelines, and the jobs that job tokens name. Variables are not stored with their pipelines,
 * because only a list of their own shows them.
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
