import type { Migration } from 'kysely'

/** The record of application settings, and the values that have been set. */
export const migration: Migration = {
  async up(db) {
    await db.schema
      .createTable('application_settings')
      .addColumn('id', 'integer', (column) => column.primaryKey())
      .addColumn('created_at_ms', 'bigint', (column) => column.notNull())
      .addColumn('updated_at_ms', 'bigint', (column) => column.notNull())
      .execute()
    await db.schema
      .createTable('application_setting_values')
      .addColumn('name', 'text', (column) => column.primaryKey())
      .addColumn('value', 'text', (column) => column.notNull())
      .execute()
  },
}
