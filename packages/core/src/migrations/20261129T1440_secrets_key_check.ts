import type { Migration } from 'kysely'

/** Adds a value that shows whether a process has the key with which the secrets of this database were encrypted. */
export const migration: Migration = {
  async up(db) {
    await db.schema
      .createTable('secrets_key_check')
      .addColumn('id', 'integer', (column) => column.primaryKey())
      .addColumn('check_value', 'text', (column) => column.notNull())
      .execute()
  },
}
