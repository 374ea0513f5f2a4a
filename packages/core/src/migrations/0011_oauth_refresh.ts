import type { Migration } from 'kysely'

/** The data that a client presented with the authorization code, to compare it when the token is refreshed. */
export const migration: Migration = {
  async up(db) {
    for (const column of ['redirect_uri', 'challenge', 'challenge_method'])
      await db.schema.alterTable('oauth_tokens').addColumn(column, 'text').execute()
  },
}
