import type { Migration } from 'kysely'

/** What was shown for the code that a token comes from, to be compared when the token is refreshed. */
export const migration: Migration = {
  async up(db) {
    for (const column of ['redirect_uri', 'challenge', 'challenge_method'])
      await db.schema.alterTable('oauth_tokens').addColumn(column, 'text').execute()
  },
}
