import type { Migration } from 'kysely'

/** What each branch of a project's repository names, so that lists of merge requests need not look into repositories. */
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
