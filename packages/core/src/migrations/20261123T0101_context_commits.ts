import { tableWithId } from '@penstock/db'
import type { Migration } from 'kysely'

/** The commits that were added to merge requests as context. What a commit says is read from the repository. */
export const migration: Migration = {
  async up(db) {
    await tableWithId(db, 'context_commits')
      .addColumn('merge_request_id', 'integer', (column) =>
        column.notNull().references('merge_requests.id').onDelete('cascade'),
      )
      .addColumn('sha', 'text', (column) => column.notNull())
      .addColumn('created_at_ms', 'bigint', (column) => column.notNull())
      .execute()
    const index = (name: string) => db.schema.createIndex(`context_commits_${name}`).on('context_commits')
    await index('sha').unique().columns(['merge_request_id', 'sha']).execute()
    await index('order').columns(['merge_request_id', 'id']).execute()
  },
}
