import { tableWithId } from '@penstock/db'
import type { Migration } from 'kysely'

/** CI/CD variables of projects and groups, and the locks of repositories. */
export const migration: Migration = {
  async up(db) {
    await tableWithId(db, 'ci_variables')
      .addColumn('group_id', 'integer', (column) => column.references('groups.id').onDelete('cascade'))
      .addColumn('project_id', 'integer', (column) => column.references('projects.id').onDelete('cascade'))
      .addColumn('key', 'text', (column) => column.notNull())
      .addColumn('sealed_value', 'text', (column) => column.notNull())
      .addColumn('variable_type', 'text', (column) => column.notNull())
      .addColumn('is_protected', 'integer', (column) => column.notNull())
      .addColumn('is_masked', 'integer', (column) => column.notNull())
      .addColumn('is_hidden', 'integer', (column) => column.notNull())
      .addColumn('is_raw', 'integer', (column) => column.notNull())
      .addColumn('environment_scope', 'text', (column) => column.notNull())
      .addColumn('description', 'text')
      .execute()
    for (const parent of ['group_id', 'project_id']) {
      const columns = [parent, 'key', 'environment_scope']
      await db.schema.createIndex(`ci_variables_${parent}`).unique().on('ci_variables').columns(columns).execute()
    }

    await db.schema
      .createTable('repository_locks')
      .addColumn('repository', 'text', (column) => column.primaryKey())
      .addColumn('token', 'text', (column) => column.notNull())
      .addColumn('pid', 'integer', (column) => column.notNull())
      .addColumn('process_started', 'text', (column) => column.notNull())
      .addColumn('taken_at_ms', 'bigint', (column) => column.notNull())
      .execute()
  },
}
