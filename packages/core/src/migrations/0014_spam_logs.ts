import { tableWithId } from '@penstock/db'
import type { Migration } from 'kysely'

/** Captcha challenges for texts that were classified as spam. */
export const migration: Migration = {
  async up(db) {
    await tableWithId(db, 'spam_logs')
      .addColumn('user_id', 'integer', (column) => column.notNull().references('users.id').onDelete('cascade'))
      .addColumn('kind', 'text', (column) => column.notNull())
      .addColumn('at_ms', 'bigint', (column) => column.notNull())
      .execute()
    await db.schema.createIndex('spam_logs_user').on('spam_logs').column('user_id').execute()
    await db.schema.createIndex('spam_logs_at').on('spam_logs').column('at_ms').execute()
  },
}
