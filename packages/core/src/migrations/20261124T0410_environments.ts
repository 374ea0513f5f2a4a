import { tableWithId } from '@penstock/db'
import type { Migration } from 'kysely'

/** Environments of projects, and the deployments to them. */
export const migration: Migration = {
  async up(db) {
    await tableWithId(db, 'environments')
      .addColumn('project_id', 'integer', (column) => column.notNull().references('projects.id').onDelete('cascade'))
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('slug', 'text', (column) => column.notNull())
      .addColumn('description', 'text')
      .addColumn('external_url', 'text')
      .addColumn('tier', 'text', (column) => column.notNull())
      .addColumn('state', 'text', (column) => column.notNull())
      .addColumn('auto_stop_setting', 'text', (column) => column.notNull())
      .addColumn('auto_delete_at_ms', 'bigint')
      .addColumn('created_at_ms', 'bigint', (column) => column.notNull())
      .addColumn('updated_at_ms', 'bigint', (column) => column.notNull())
      .addUniqueConstraint('environments_name', ['project_id', 'name'])
      .execute()
    await db.schema.createIndex('environments_deletion').on('environments').column('auto_delete_at_ms').execute()

    await tableWithId(db, 'deployments')
      .addColumn('iid', 'integer', (column) => column.notNull())
      .addColumn('project_id', 'integer', (column) => column.notNull().references('projects.id').onDelete('cascade'))
      .addColumn('environment_id', 'integer', (column) =>
        column.notNull().references('environments.id').onDelete('cascade'),
      )
      .addColumn('job_key', 'integer', (column) => column.references('pipeline_jobs.id').onDelete('set null'))
      .addColumn('user_id', 'integer', (column) => column.references('users.id').onDelete('set null'))
      .addColumn('ref', 'text')
      .addColumn('sha', 'text')
      .addColumn('is_tag', 'integer', (column) => column.notNull())
      .addColumn('status', 'text', (column) => column.notNull())
      .addColumn('finished_at_ms', 'bigint')
      .addColumn('created_at_ms', 'bigint', (column) => column.notNull())
      .addColumn('updated_at_ms', 'bigint', (column) => column.notNull())
      .execute()
    const indexes = {
      project: ['project_id', 'id'],
      updated: ['project_id', 'updated_at_ms', 'id'],
      environment: ['environment_id', 'status', 'id'],
      job: ['job_key'],
      user: ['user_id'],
    }
    for (const [name, columns] of Object.entries(indexes))
      await db.schema.createIndex(`deployments_${name}`).on('deployments').columns(columns).execute()
  },
}
