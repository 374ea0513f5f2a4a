import type { Kysely, Migration } from 'kysely'

/** Finds the public snippets of a project or author, and the personal ones, among many that are not public. */
export const migration: Migration = {
  async up(db: Kysely<unknown>) {
    for (const owner of ['project', 'author'])
      await db.schema
        .createIndex(`snippets_visibility_${owner}`)
        .on('snippets')
        .columns(['visibility', `${owner}_id`, 'id'])
        .execute()
  },
}
