import type { Kysely, Migration } from 'kysely'

/** Counts the bytes of the repositories of snippets, for their project or, if they are personal, for their author. */
export const migration: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .alterTable('project_storage')
      .addColumn('snippets_bytes', 'bigint', (column) => column.notNull().defaultTo(0))
      .execute()
    await db.schema
      .createTable('personal_snippet_storage')
      .addColumn('user_id', 'integer', (column) => column.primaryKey().references('users.id').onDelete('cascade'))
      .addColumn('bytes', 'bigint', (column) => column.notNull())
      .execute()
  },
}
