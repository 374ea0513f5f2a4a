import { addSearchIndex } from '@penstock/db'
import type { Migration } from 'kysely'

/** Indexes the texts that lists search. Before, each search read every text that its other conditions admitted. */
export const migration: Migration = {
  async up(db) {
    await addSearchIndex(db, 'issues', ['title', 'description'])
    await addSearchIndex(db, 'merge_requests', ['title', 'description'])
    await addSearchIndex(db, 'milestones', ['title', 'description'])
    await addSearchIndex(db, 'labels', ['name', 'description'])
    await addSearchIndex(db, 'projects', ['name', 'path', 'description', 'full_path'])
    await addSearchIndex(db, 'groups', ['name', 'path'])
    await addSearchIndex(db, 'users', ['name', 'username'])
    // A search for users compares addresses too.
    await db.schema.createIndex('users_public_email').on('users').column('public_email').execute()
  },
}
