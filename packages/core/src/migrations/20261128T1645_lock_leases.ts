import type { Migration } from 'kysely'

/** Records when a lock was renewed, so that the lock of a dead host ends even if no process has waited for it. */
export const migration: Migration = {
  async up(db) {
    await db.schema
      .alterTable('repository_locks')
      .addColumn('renewed_at_ms', 'bigint', (column) => column.notNull().defaultTo(0))
      .execute()
  },
}
