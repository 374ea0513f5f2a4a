import { tableWithId } from '@penstock/db'
import type { Kysely, Migration } from 'kysely'

/** Type, severity and successor of issues, time tracking, and subscriptions to issues, merge requests and labels. */
export const migration: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .alterTable('issues')
      .addColumn('type', 'text', (column) => column.notNull().defaultTo('issue'))
      .execute()
    await db.schema
      .alterTable('issues')
      .addColumn('severity', 'text', (column) => column.notNull().defaultTo('unknown'))
      .execute()
    await db.schema
      .alterTable('issues')
      .addColumn('moved_to_id', 'integer', (column) => column.references('issues.id').onDelete('set null'))
      .execute()
    await db.schema.createIndex('issues_moved_to').on('issues').column('moved_to_id').execute()
    for (const table of ['issues', 'merge_requests']) {
      for (const name of ['time_estimate_seconds', 'time_spent_seconds']) {
        await db.schema
          .alterTable(table)
          .addColumn(name, 'bigint', (column) => column.notNull().defaultTo(0))
          .execute()
      }
    }
    await tableWithId(db, 'timelogs')
      .addColumn('issue_id', 'integer', (column) => column.references('issues.id').onDelete('cascade'))
      .addColumn('merge_request_id', 'integer', (column) => column.references('merge_requests.id').onDelete('cascade'))
      .addColumn('user_id', 'integer', (column) => column.references('users.id').onDelete('set null'))
      .addColumn('seconds', 'bigint', (column) => column.notNull())
      .addColumn('summary', 'text')
      .addColumn('spent_at_ms', 'bigint', (column) => column.notNull())
      .execute()
    for (const owner of ['issue', 'merge_request']) {
      await db.schema
        .createIndex(`timelogs_${owner}`)
        .on('timelogs')
        .columns([`${owner}_id`, 'spent_at_ms', 'id'])
        .execute()
    }
    await db.schema.createIndex('timelogs_user').on('timelogs').column('user_id').execute()
    await subscriptions(db, 'issue', 'issues')
    await subscriptions(db, 'merge_request', 'merge_requests')
    await subscriptions(db, 'label', 'labels')
  },
}

/** Creates the table of explicit subscriptions: `is_subscribed` is 0 for users who unsubscribed from what they take part in. */
async function subscriptions(db: Kysely<unknown>, owner: string, table: string): Promise<void> {
  const name = `${owner}_subscriptions`
  await db.schema
    .createTable(name)
    .addColumn(`${owner}_id`, 'integer', (column) => column.notNull().references(`${table}.id`).onDelete('cascade'))
    .addColumn('user_id', 'integer', (column) => column.notNull().references('users.id').onDelete('cascade'))
    .addColumn('is_subscribed', 'integer', (column) => column.notNull())
    .addPrimaryKeyConstraint(`${name}_key`, [`${owner}_id`, 'user_id'])
    .execute()
  await db.schema.createIndex(`${name}_user`).on(name).column('user_id').execute()
}
