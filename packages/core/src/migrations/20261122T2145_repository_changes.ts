import type { Migration } from 'kysely'

/**
 * The changes that are being made to repositories, and the sizes of repositories that do not count towards the
 * storage of a project.
 */
export const migration: Migration = {
  async up(db) {
    await db.schema
      .createTable('repository_changes')
      .addColumn('repository', 'text', (column) => column.primaryKey())
      .addColumn('token', 'text', (column) => column.notNull())
      .addColumn('creates', 'integer', (column) => column.notNull())
      .addColumn('moves', 'text', (column) => column.notNull())
      .execute()
    await db.schema
      .createTable('repository_sizes')
      .addColumn('repository', 'text', (column) => column.primaryKey())
      .addColumn('bytes', 'bigint', (column) => column.notNull())
      .addColumn('measured_at_ms', 'bigint', (column) => column.notNull())
      .execute()
    await db.schema
      .createIndex('repository_sizes_measured')
      .on('repository_sizes')
      .columns(['measured_at_ms', 'repository'])
      .execute()
  },
}
