import { tableWithId } from '@penstock/db'
import type { Migration } from 'kysely'

/** Adds the events that users are notified about. A row is deleted some time after its mails were sent. */
export const migration: Migration = {
  async up(db) {
    await tableWithId(db, 'notifications')
      .addColumn('event', 'text', (column) => column.notNull())
      .addColumn('project_id', 'integer', (column) => column.notNull().references('projects.id').onDelete('cascade'))
      .addColumn('kind', 'text', (column) => column.notNull())
      .addColumn('item_id', 'integer', (column) => column.notNull())
      .addColumn('item_iid', 'integer', (column) => column.notNull())
      .addColumn('note_id', 'integer')
      .addColumn('actor_id', 'integer')
      .addColumn('former_user_ids', 'text', (column) => column.notNull())
      .addColumn('at_ms', 'bigint', (column) => column.notNull())
      .execute()
    await db.schema.createIndex('notifications_project').on('notifications').column('project_id').execute()
    await db.schema.createIndex('notifications_at').on('notifications').columns(['at_ms', 'id']).execute()
    await db.schema
      .createIndex('notification_settings_level')
      .on('notification_settings')
      .columns(['level', 'user_id'])
      .execute()
  },
}
