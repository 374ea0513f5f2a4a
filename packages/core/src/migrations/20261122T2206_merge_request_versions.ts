import { tableWithId } from '@penstock/db'
import { type Migration, sql } from 'kysely'

/**
 * The states of the source branches of merge requests. Existing merge requests get the present state as their first
 * one.
 */
export const migration: Migration = {
  async up(db) {
    await tableWithId(db, 'merge_request_versions')
      .addColumn('merge_request_id', 'integer', (column) =>
        column.notNull().references('merge_requests.id').onDelete('cascade'),
      )
      .addColumn('head_sha', 'text', (column) => column.notNull())
      .addColumn('start_sha', 'text')
      .addColumn('created_at_ms', 'bigint', (column) => column.notNull())
      .execute()
    await db.schema
      .createIndex('merge_request_versions_newest')
      .on('merge_request_versions')
      .columns(['merge_request_id', 'id'])
      .execute()
    await sql`
      insert into merge_request_versions (merge_request_id, head_sha, start_sha, created_at_ms)
      select merge_requests.id, head.sha, start.sha, merge_requests.created_at_ms from merge_requests
      inner join branch_tips as head
        on head.project_id = merge_requests.project_id and head.name = merge_requests.source_branch
      left join branch_tips as start
        on start.project_id = merge_requests.project_id and start.name = merge_requests.target_branch
      order by merge_requests.id`.execute(db)
  },
}
