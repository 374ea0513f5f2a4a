import { tableWithId } from '@penstock/db'
import type { Migration } from 'kysely'

const awardables = { issue: 'issues', merge_request: 'merge_requests', snippet: 'snippets', note: 'notes' } as const

/** Emoji reactions to issues, merge requests, snippets and notes. Exactly one of the four columns refers to one of them. */
export const migration: Migration = {
  async up(db) {
    let table = tableWithId(db, 'award_emoji')
      .addColumn('project_id', 'integer', (column) => column.notNull().references('projects.id').onDelete('cascade'))
      .addColumn('awardable_type', 'text', (column) => column.notNull())
    for (const [name, owner] of Object.entries(awardables)) {
      table = table.addColumn(`${name}_id`, 'integer', (column) => column.references(`${owner}.id`).onDelete('cascade'))
    }
    await table
      .addColumn('user_id', 'integer', (column) => column.references('users.id').onDelete('set null'))
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('created_at_ms', 'bigint', (column) => column.notNull())
      .addColumn('updated_at_ms', 'bigint', (column) => column.notNull())
      .execute()
    for (const name of Object.keys(awardables)) {
      await db.schema
        .createIndex(`award_emoji_${name}`)
        .on('award_emoji')
        .columns([`${name}_id`, 'id'])
        .execute()
      await db.schema
        .createIndex(`award_emoji_${name}_user`)
        .unique()
        .on('award_emoji')
        .columns([`${name}_id`, 'user_id', 'name'])
        .execute()
    }
    await db.schema.createIndex('award_emoji_user').on('award_emoji').column('user_id').execute()
    // Lists of issues and merge requests show and sort by these numbers, so they are stored with each change.
    for (const owner of ['issues', 'merge_requests']) {
      for (const name of ['upvotes', 'downvotes']) {
        await db.schema
          .alterTable(owner)
          .addColumn(name, 'integer', (column) => column.notNull().defaultTo(0))
          .execute()
      }
    }
  },
}
