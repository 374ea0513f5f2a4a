import type { Migration } from 'kysely'

/** Approvals of merge requests, and the states of their reviewers. The time of earlier requests for a review is not known. */
export const migration: Migration = {
  async up(db) {
    await db.schema
      .createTable('merge_request_approvals')
      .addColumn('merge_request_id', 'integer', (column) =>
        column.notNull().references('merge_requests.id').onDelete('cascade'),
      )
      .addColumn('user_id', 'integer', (column) => column.notNull().references('users.id').onDelete('cascade'))
      .addColumn('created_at_ms', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('merge_request_approvals_key', ['merge_request_id', 'user_id'])
      .execute()
    await db.schema
      .createIndex('merge_request_approvals_user')
      .on('merge_request_approvals')
      .column('user_id')
      .execute()
    const reviewers = () => db.schema.alterTable('merge_request_reviewers')
    await reviewers()
      .addColumn('state', 'text', (column) => column.notNull().defaultTo('unreviewed'))
      .execute()
    await reviewers().addColumn('created_at_ms', 'bigint').execute()
    await reviewers().addColumn('updated_at_ms', 'bigint').execute()
  },
}
