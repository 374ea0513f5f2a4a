import { tableWithId } from '@penstock/db'
import type { Migration } from 'kysely'

/** Messages of administrators to everyone. */
export const migration: Migration = {
  async up(db) {
    await tableWithId(db, 'broadcast_messages')
      .addColumn('message', 'text', (column) => column.notNull())
      .addColumn('starts_at_ms', 'bigint', (column) => column.notNull())
      .addColumn('ends_at_ms', 'bigint', (column) => column.notNull())
      .addColumn('color', 'text', (column) => column.notNull())
      .addColumn('font', 'text', (column) => column.notNull())
      .addColumn('target_access_levels', 'text', (column) => column.notNull())
      .addColumn('target_path', 'text')
      .addColumn('broadcast_type', 'text', (column) => column.notNull())
      .addColumn('theme', 'text', (column) => column.notNull())
      .addColumn('dismissable', 'integer', (column) => column.notNull())
      .addColumn('updated_at_ms', 'bigint', (column) => column.notNull())
      .execute()
    await db.schema.createIndex('broadcast_messages_end').on('broadcast_messages').column('ends_at_ms').execute()
  },
}
