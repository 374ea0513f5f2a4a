import type { Migration } from 'kysely'

/** Locks with leases, repositories to remove, and whether a repository is empty. */
export const migration: Migration = {
  async up(db) {
    // Locks exist only during a change, so nothing is lost.
    await db.schema.dropTable('repository_locks').execute()
    await db.schema
      .createTable('repository_locks')
      .addColumn('repository', 'text', (column) => column.primaryKey())
      .addColumn('token', 'text', (column) => column.notNull())
      .addColumn('owner', 'text', (column) => column.notNull())
      .addColumn('renewals', 'bigint', (column) => column.notNull())
      .execute()

    await db.schema
      .createTable('removed_repositories')
      .addColumn('repository', 'text', (column) => column.primaryKey())
      .addColumn('removed_at_ms', 'bigint', (column) => column.notNull())
      .addColumn('is_swept', 'integer', (column) => column.notNull())
      .execute()

    await db.schema
      .alterTable('projects')
      .addColumn('is_empty', 'integer', (column) => column.notNull().defaultTo(1))
      .execute()
    await db
      .withTables<{ projects: { is_empty: number; default_branch: string | null } }>()
      .updateTable('projects')
      .set({ is_empty: 0 })
      .where('default_branch', 'is not', null)
      .execute()
  },
}
