import type { Kysely, Migration } from 'kysely'

/**
 * Finds the members of a project or group in the order of their ids, by which the recipients of a notification are read in
 * batches, and the issues that are due soon. Each issue is announced once for each due date.
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
