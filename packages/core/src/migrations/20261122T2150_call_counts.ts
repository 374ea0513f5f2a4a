import type { Migration } from 'kysely'

/** Stores how often callers have called limited operations, for all processes. */
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
