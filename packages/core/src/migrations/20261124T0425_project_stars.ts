import type { Migration } from 'kysely'

/** The stars that users give to projects. */
export const migration: Migration = {
  async up(db) {
    await db.schema
      .createTable('project_stars')
      .addColumn('project_id', 'integer', (column) => column.notNull().references('projects.id').onDelete('cascade'))
      .addColumn('user_id', 'integer', (column) => column.notNull().references('users.id').onDelete('cascade'))
      .addColumn('created_at_ms', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('project_stars_key', ['project_id', 'user_id'])
      .execute()
    await db.schema.createIndex('project_stars_user').on('project_stars').columns(['user_id', 'project_id']).execute()
  },
}
