import type { Migration } from 'kysely'

/** The commits that merging a merge request created. */
export const migration: Migration = {
  async up(db) {
    for (const name of ['merge_commit_sha', 'squash_commit_sha']) {
      await db.schema.alterTable('merge_requests').addColumn(name, 'text').execute()
    }
  },
}
