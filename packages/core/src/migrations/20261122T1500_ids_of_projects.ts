import { type Migration, sql } from 'kysely'

/** The first assigned number; the same as in `global-number-store.ts` at the time of this migration. */
const FIRST_ASSIGNED_NUMBER = sql.lit(2 ** 52)

/**
 * Makes ids of pipelines and jobs unique within their project instead of within the instance. Pipelines, and the first
 * job of each id, keep their Global IDs; further jobs of the same id get separate numbers, so that their Global IDs
 * resolve too.
 */
export const migration: Migration = {
  async up(db) {
    for (const table of ['pipeline_numbers', 'job_numbers']) {
      await db.schema
        .createTable(table)
        .addColumn('number', 'integer', (column) => column.primaryKey())
        // No reference: the meaning of a number is kept when the project is removed.
        .addColumn('project_id', 'integer', (column) => column.notNull())
        .addColumn('own_id', 'bigint', (column) => column.notNull())
        .execute()
      // The others are found by their number, which equals their id.
      await sql`create index ${sql.ref(`${table}_given`)} on ${sql.table(table)} (project_id, own_id)
        where number >= ${FIRST_ASSIGNED_NUMBER}`.execute(db)
    }
    await db.schema
      .createTable('trace_instances')
      .addColumn('project_id', 'integer', (column) => column.primaryKey())
      .addColumn('instance', 'text', (column) => column.notNull().unique())
      .execute()

    await db.schema.alterTable('pipelines').addColumn('number', 'bigint').execute()
    await db.schema.alterTable('pipelines').addColumn('stage_order', 'text').execute()
    await sql`update pipelines set number = ${FIRST_ASSIGNED_NUMBER} + id
      where pipeline_id >= ${FIRST_ASSIGNED_NUMBER}`.execute(db)
    await sql`insert into pipeline_numbers (number, project_id, own_id)
      select coalesce(number, pipeline_id), project_id, pipeline_id from pipelines`.execute(db)
    await db.schema.dropIndex('pipelines_id').execute()
    await db.schema.dropIndex('pipelines_project').execute()
    const pipelineIndex = db.schema.createIndex('pipelines_project').on('pipelines')
    await pipelineIndex.unique().columns(['project_id', 'pipeline_id']).execute()

    await db.schema.alterTable('pipeline_jobs').addColumn('number', 'bigint').execute()
    await sql`update pipeline_jobs set number = ${FIRST_ASSIGNED_NUMBER} + id
      where job_id >= ${FIRST_ASSIGNED_NUMBER} or id not in (select min(id) from pipeline_jobs group by job_id)`.execute(
      db,
    )
    await sql`insert into job_numbers (number, project_id, own_id)
      select coalesce(number, job_id), project_id, job_id from pipeline_jobs`.execute(db)
    await db.schema.dropIndex('pipeline_jobs_project').execute()
    // Several pipelines of a project may list one job, but no two rows have the same number.
    await sql`create unique index pipeline_jobs_project
      on pipeline_jobs (project_id, job_id, coalesce(number, job_id))`.execute(db)
  },
}
