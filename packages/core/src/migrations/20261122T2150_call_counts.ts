import type { Migration } from 'kysely'

/** Counts the calls of operations that have a call limit, for all processes together. */
export const migration: Migration = {
  async up(db) {
    await db.schema
      .createTable('call_counts')
      .addColumn('key', 'text', (column) => column.primaryKey())
      .addColumn('points', 'integer', (column) => column.notNull())
      .addColumn('expire', 'bigint', (column) => column.notNull())
      .execute()
    await db.schema.createIndex('call_counts_expire').on('call_counts').column('expire').execute()
  },
}
