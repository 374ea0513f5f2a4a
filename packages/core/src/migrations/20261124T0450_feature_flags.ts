import { tableWithId } from '@penstock/db'
import type { Migration } from 'kysely'

/** Feature flags of projects, and the lists of users that their strategies refer to. */
export const migration: Migration = {
  async up(db) {
    await tableWithId(db, 'feature_flags')
      .addColumn('iid', 'integer', (column) => column.notNull())
      .addColumn('project_id', 'integer', (column) => column.notNull().references('projects.id').onDelete('cascade'))
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('description', 'text')
      .addColumn('active', 'integer', (column) => column.notNull())
      .addColumn('strategies', 'text', (column) => column.notNull())
      .addColumn('created_at_ms', 'bigint', (column) => column.notNull())
      .addColumn('updated_at_ms', 'bigint', (column) => column.notNull())
      .addUniqueConstraint('feature_flags_name', ['project_id', 'name'])
      .execute()
    await tableWithId(db, 'feature_flag_user_lists')
      .addColumn('iid', 'integer', (column) => column.notNull())
      .addColumn('project_id', 'integer', (column) => column.notNull().references('projects.id').onDelete('cascade'))
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('user_xids', 'text', (column) => column.notNull())
      .addColumn('created_at_ms', 'bigint', (column) => column.notNull())
      .addColumn('updated_at_ms', 'bigint', (column) => column.notNull())
      .addUniqueConstraint('feature_flag_user_lists_iid', ['project_id', 'iid'])
      .addUniqueConstraint('feature_flag_user_lists_name', ['project_id', 'name'])
      .execute()
  },
}
