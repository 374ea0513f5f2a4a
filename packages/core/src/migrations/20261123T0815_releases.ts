import { tableWithId } from '@penstock/db'
import type { Migration } from 'kysely'

/** Releases of projects with their links, and the milestones that they belong to. */
export const migration: Migration = {
  async up(db) {
    await tableWithId(db, 'releases')
      .addColumn('project_id', 'integer', (column) => column.notNull().references('projects.id').onDelete('cascade'))
      .addColumn('tag', 'text', (column) => column.notNull())
      .addColumn('name', 'text')
      .addColumn('description', 'text')
      .addColumn('author_id', 'integer', (column) => column.references('users.id').onDelete('set null'))
      .addColumn('sha', 'text', (column) => column.notNull())
      .addColumn('released_at_ms', 'bigint', (column) => column.notNull())
      .addColumn('created_at_ms', 'bigint', (column) => column.notNull())
      .addColumn('updated_at_ms', 'bigint', (column) => column.notNull())
      .execute()
    await db.schema.createIndex('releases_tag').unique().on('releases').columns(['project_id', 'tag']).execute()
    for (const time of ['released_at_ms', 'created_at_ms']) {
      await db.schema.createIndex(`releases_${time}`).on('releases').columns(['project_id', time, 'id']).execute()
    }
    await db.schema.createIndex('releases_author').on('releases').column('author_id').execute()

    await tableWithId(db, 'release_links')
      .addColumn('release_id', 'integer', (column) => column.notNull().references('releases.id').onDelete('cascade'))
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('url', 'text', (column) => column.notNull())
      .addColumn('filepath', 'text')
      .addColumn('link_type', 'text', (column) => column.notNull())
      .addColumn('created_at_ms', 'bigint', (column) => column.notNull())
      .addColumn('updated_at_ms', 'bigint', (column) => column.notNull())
      .execute()
    await db.schema.createIndex('release_links_release').on('release_links').columns(['release_id', 'id']).execute()

    await db.schema
      .createTable('milestone_releases')
      .addColumn('milestone_id', 'integer', (column) =>
        column.notNull().references('milestones.id').onDelete('cascade'),
      )
      .addColumn('release_id', 'integer', (column) => column.notNull().references('releases.id').onDelete('cascade'))
      .addPrimaryKeyConstraint('milestone_releases_key', ['milestone_id', 'release_id'])
      .execute()
    await db.schema.createIndex('milestone_releases_release').on('milestone_releases').column('release_id').execute()
  },
}
