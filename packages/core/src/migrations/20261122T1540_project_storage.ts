import { type Kysely, type Migration, sql } from 'kysely'

/**
 * Stores how many bytes each project uses, so that checking the quota needs no count. Records are counted here;
 * repositories are measured by their first change, or by the sweep.
 */
export const migration: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .createTable('project_storage')
      .addColumn('project_id', 'integer', (column) => column.primaryKey().references('projects.id').onDelete('cascade'))
      .addColumn('repository_bytes', 'bigint')
      .addColumn('records_bytes', 'bigint', (column) => column.notNull())
      .addColumn('measured_at_ms', 'bigint')
      .execute()
    await db.schema
      .createTable('pipeline_record_sizes')
      .addColumn('pipeline_key', 'integer', (column) =>
        column.primaryKey().references('pipelines.id').onDelete('cascade'),
      )
      .addColumn('bytes', 'bigint', (column) => column.notNull())
      .execute()
    // The same sizes as in `record-size-store.ts` at the time of this migration.
    await sql`
      insert into pipeline_record_sizes (pipeline_key, bytes)
      select pipelines.id, 512 + octet_length(pipelines.details) + coalesce((
        select sum(256 + octet_length(pipeline_jobs.details)) from pipeline_jobs
        where pipeline_jobs.pipeline_key = pipelines.id
      ), 0) from pipelines`.execute(db)
    await sql`
      insert into project_storage (project_id, records_bytes)
      select projects.id, coalesce((
        select sum(pipeline_record_sizes.bytes) from pipelines
        inner join pipeline_record_sizes on pipeline_record_sizes.pipeline_key = pipelines.id
        where pipelines.project_id = projects.id
      ), 0) from projects`.execute(db)
  },
}
