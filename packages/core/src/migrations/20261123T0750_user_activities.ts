import type { Migration } from 'kysely'

/** Lists users by the day of their last activity. */
export const migration: Migration = {
  async up(db) {
    await db.schema.createIndex('users_activity').on('users').columns(['last_activity_on', 'id']).execute()
  },
}
