import type { Kysely, Migration } from 'kysely'

/** Counts the bytes of the repository of a project's wiki. */
export const migration: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .alterTable('project_storage')
      .addColumn('wiki_bytes', 'bigint', (column) => column.notNull().defaultTo(0))
      .execute()
  },
}
