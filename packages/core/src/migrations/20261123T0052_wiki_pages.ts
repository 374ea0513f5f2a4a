import { tableWithId } from '@penstock/db'
import type { Migration } from 'kysely'

/** Lasting ids of the wiki pages in repositories, and subscriptions to pages. */
export const migration: Migration = {
  async up(db) {
    await tableWithId(db, 'wiki_pages')
      .addColumn('group_id', 'integer', (column) => column.references('groups.id').onDelete('cascade'))
      .addColumn('project_id', 'integer', (column) => column.references('projects.id').onDelete('cascade'))
      .addColumn('slug', 'text', (column) => column.notNull())
      // A slug can be longer than PostgreSQL allows in an index.
      .addColumn('slug_hash', 'text', (column) => column.notNull())
      .addColumn('created_at_ms', 'bigint', (column) => column.notNull())
      .execute()
    for (const parent of ['group', 'project'])
      await db.schema
        .createIndex(`wiki_pages_${parent}`)
        .on('wiki_pages')
        .columns([`${parent}_id`, 'slug_hash'])
        .unique()
        .execute()
    await db.schema
      .createTable('wiki_page_subscriptions')
      .addColumn('wiki_page_id', 'integer', (column) =>
        column.notNull().references('wiki_pages.id').onDelete('cascade'),
      )
      .addColumn('user_id', 'integer', (column) => column.notNull().references('users.id').onDelete('cascade'))
      .addColumn('is_subscribed', 'integer', (column) => column.notNull())
      .addPrimaryKeyConstraint('wiki_page_subscriptions_key', ['wiki_page_id', 'user_id'])
      .execute()
    await db.schema
      .createIndex('wiki_page_subscriptions_user')
      .on('wiki_page_subscriptions')
      .columns(['user_id'])
      .execute()
  },
}
