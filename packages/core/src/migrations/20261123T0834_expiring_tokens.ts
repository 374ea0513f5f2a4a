import type { Migration } from 'kysely'

/** When it was announced that an access token will expire. */
export const migration: Migration = {
  async up(db) {
    await db.schema.alterTable('access_tokens').addColumn('expiry_announced_at_ms', 'bigint').execute()
    await db.schema.createIndex('access_tokens_expiry').on('access_tokens').columns(['kind', 'expires_at']).execute()
  },
}
