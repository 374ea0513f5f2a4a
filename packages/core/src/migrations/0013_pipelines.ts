import { tableWithId } from '@penstock/db'
import type { Migration } from 'kysely'

/**
 * Recorded pipelines and their jobs. They have internal keys in addition to the ids from the records, which may be
 * longer than 32 bits. The ids of pipelines are unique in the instance, because trace ids are derived from them.
 */
export const migration: Migration = {
  async up(db) {
    await tableWithId(db, 'pipelines')
      .addColumn('project_id', 'integer', (column) => column.notNull().references('projects.id').onDelete('cascade'))
      .addColumn('pipeline_id', 'bigint', (column) => column.notNull())
      .addColumn('iid', 'bigint')
      .addColumn('name', 'text')
      .addColumn('status', 'text', (column) => column.notNull())
      .addColumn('source', 'text')
      .addColumn('ref', 'text')
      .addColumn('is_tag', 'integer')
      .addColumn('sha', 'text')
      .addColumn('user_id', 'bigint')
      .addColumn('username', 'text')
      .addColumn('created_at_ms', 'bigint')
      .addColumn('updated_at_ms', 'bigint', (column) => column.notNull())
      .addColumn('as_of_ms', 'bigint')
      .addColumn('upstream_project_path', 'text')
      .addColumn('upstream_pipeline_id', 'bigint')
      .addColumn('upstream_job_id', 'bigint')
      .addColumn('details', 'text', (column) => column.notNull())
      .addColumn('digest', 'text', (column) => column.notNull())
      .execute()
    const pipelineIndex = (name: string) => db.schema.createIndex(`pipelines_${name}`).on('pipelines')
    await pipelineIndex('id').unique().columns(['pipeline_id']).execute()
    await pipelineIndex('project').columns(['project_id', 'pipeline_id']).execute()
    await pipelineIndex('ref').columns(['project_id', 'ref', 'pipeline_id']).execute()
    await pipelineIndex('sha').columns(['project_id', 'sha', 'pipeline_id']).execute()
    await pipelineIndex('updated').columns(['project_id', 'updated_at_ms', 'pipeline_id']).execute()
    await pipelineIndex('upstream').columns(['upstream_pipeline_id', 'upstream_job_id']).execute()

    await tableWithId(db, 'pipeline_jobs')
      .addColumn('pipeline_key', 'integer', (column) => column.notNull().references('pipelines.id').onDelete('cascade'))
      .addColumn('project_id', 'integer', (column) => column.notNull().references('projects.id').onDelete('cascade'))
      .addColumn('job_id', 'bigint', (column) => column.notNull())
      .addColumn('is_bridge', 'integer', (column) => column.notNull())
      .addColumn('is_retried', 'integer', (column) => column.notNull())
      .addColumn('status', 'text', (column) => column.notNull())
      .addColumn('details', 'text', (column) => column.notNull())
      .execute()
    const jobIndex = (name: string) => db.schema.createIndex(`pipeline_jobs_${name}`).on('pipeline_jobs')
    await jobIndex('pipeline').unique().columns(['pipeline_key', 'job_id']).execute()
    await jobIndex('project').columns(['project_id', 'job_id', 'id']).execute()
  },
}
