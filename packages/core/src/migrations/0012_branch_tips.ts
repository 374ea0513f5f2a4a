import type { Migration } from 'kysely'

/** The head commit of each branch, so that lists of merge requests need not read repositories. */
export const migration: Migration = {
  async up(db) {
    await db.schema
      .createTable('branch_tips')
      .addColumn('project_id', 'integer', (column) => column.notNull().references('projects.id').onDelete('cascade'))
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('sha', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('branch_tips_pkey', ['project_id', 'name'])
      .execute()
  },
}
