import type { Kysely, Migration } from 'kysely'

/**
 * Adds indexes that find the members of a project or group in the order of their ids, in which the recipients of a notification
 * are read, and the issues that are due soon; and the due date for which an issue was announced last.
 */
export const migration: Migration = {
  async up(db: Kysely<unknown>) {
    for (const place of ['project', 'group']) {
      await db.schema
        .createIndex(`members_of_${place}_by_user`)
        .on('members')
        .columns([`${place}_id`, 'user_id'])
        .execute()
      await db.schema.dropIndex(`members_of_${place}`).execute()
    }
    await db.schema.alterTable('issues').addColumn('due_announced_for', 'text').execute()
    await db.schema.createIndex('issues_due').on('issues').columns(['due_date', 'id']).execute()
  },
}
