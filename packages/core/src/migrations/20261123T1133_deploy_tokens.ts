import { tableWithId } from '@penstock/db'
import type { Migration } from 'kysely'

/** Deploy tokens of groups and projects. Only a digest of each is stored. */
export const migration: Migration = {
  async up(db) {
    await tableWithId(db, 'deploy_tokens')
      .addColumn('group_id', 'integer', (column) => column.references('groups.id').onDelete('cascade'))
      .addColumn('project_id', 'integer', (column) => column.references('projects.id').onDelete('cascade'))
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('username', 'text')
      .addColumn('scopes', 'text', (column) => column.notNull())
      .addColumn('digest', 'text', (column) => column.notNull())
      .addColumn('expires_at_ms', 'bigint')
      .addColumn('expiry_announced_at_ms', 'bigint')
      .addColumn('created_at_ms', 'bigint', (column) => column.notNull())
      .execute()
    for (const parent of ['group', 'project'])
      await db.schema
        .createIndex(`deploy_tokens_${parent}`)
        .on('deploy_tokens')
        .columns([`${parent}_id`, 'id'])
        .execute()
    await db.schema.createIndex('deploy_tokens_expiry').on('deploy_tokens').column('expires_at_ms').execute()
  },
}
