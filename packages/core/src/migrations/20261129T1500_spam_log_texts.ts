import type { Kysely, Migration } from 'kysely'

/** Binds each challenge to the text that was challenged. Earlier challenges have no text, so they can no longer be solved. */
export const migration: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .alterTable('spam_logs')
      .addColumn('text_hash', 'text', (column) => column.notNull().defaultTo(''))
      .execute()
  },
}
