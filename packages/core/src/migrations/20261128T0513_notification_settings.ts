import { tableWithId } from '@penstock/db'
import { type Migration, sql } from 'kysely'

/** The notification settings that users have made: for everything, for a group, or for a project. */
export const migration: Migration = {
  async up(db) {
    await tableWithId(db, 'notification_settings')
      .addColumn('user_id', 'integer', (column) => column.notNull().references('users.id').onDelete('cascade'))
      .addColumn('group_id', 'integer', (column) => column.references('groups.id').onDelete('cascade'))
      .addColumn('project_id', 'integer', (column) => column.references('projects.id').onDelete('cascade'))
      .addColumn('level', 'text', (column) => column.notNull())
      .addColumn('switches', 'text', (column) => column.notNull())
      .addColumn('email', 'text')
      .execute()
    await db.schema
      .createIndex('notification_settings_global')
      .unique()
      .on('notification_settings')
      .column('user_id')
      .where(sql<boolean>`group_id is null and project_id is null`)
      .execute()
    for (const column of ['group_id', 'project_id'] as const) {
      await db.schema
        .createIndex(`notification_settings_${column}`)
        .unique()
        .on('notification_settings')
        .columns([column, 'user_id'])
        .where(sql<boolean>`${sql.ref(column)} is not null`)
        .execute()
    }
    // Deleting a user must find the user's rows.
    await db.schema.createIndex('notification_settings_user').on('notification_settings').column('user_id').execute()
  },
}
