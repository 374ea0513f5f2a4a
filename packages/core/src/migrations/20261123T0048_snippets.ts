import type { Kysely, Migration } from 'kysely'

/** Snippets of projects and of users, and the requests that created them. */
export const migration: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .createTable('snippets')
      // Taken from `nextRepositoryId`, because the repository is created before the row.
      .addColumn('id', 'integer', (column) => column.primaryKey())
      .addColumn('project_id', 'integer', (column) => column.references('projects.id').onDelete('cascade'))
      .addColumn('author_id', 'integer', (column) => column.references('users.id').onDelete('set null'))
      .addColumn('title', 'text', (column) => column.notNull())
      .addColumn('description', 'text')
      .addColumn('visibility', 'text', (column) => column.notNull())
      .addColumn('files', 'text', (column) => column.notNull())
      .addColumn('created_at_ms', 'bigint', (column) => column.notNull())
      .addColumn('updated_at_ms', 'bigint', (column) => column.notNull())
      .execute()
    await db.schema.createIndex('snippets_project').on('snippets').columns(['project_id', 'id']).execute()
    await db.schema.createIndex('snippets_author').on('snippets').columns(['author_id', 'id']).execute()
    await db.schema.createIndex('snippets_visibility').on('snippets').columns(['visibility', 'id']).execute()
    await db.schema
      .createTable('snippet_user_agents')
      .addColumn('snippet_id', 'integer', (column) => column.primaryKey().references('snippets.id').onDelete('cascade'))
      .addColumn('user_agent', 'text', (column) => column.notNull())
      .addColumn('ip_address', 'text', (column) => column.notNull())
      .addColumn('is_submitted', 'integer', (column) => column.notNull())
      .execute()
  },
}
