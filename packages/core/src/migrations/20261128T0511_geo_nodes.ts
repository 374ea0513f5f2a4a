import { tableWithId } from '@penstock/db'
import type { Migration } from 'kysely'

/** Geo nodes, the groups that they replicate, and applications that need no consent of users. */
export const migration: Migration = {
  async up(db) {
    await db.schema
      .alterTable('oauth_applications')
      .addColumn('is_trusted', 'integer', (column) => column.notNull().defaultTo(0))
      .execute()
    let nodes = tableWithId(db, 'geo_nodes')
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('url', 'text', (column) => column.notNull())
      .addColumn('internal_url', 'text')
      .addColumn('selective_sync_type', 'text')
      .addColumn('selective_sync_shards', 'text', (column) => column.notNull())
      .addColumn('oauth_application_id', 'integer', (column) =>
        column.references('oauth_applications.id').onDelete('set null'),
      )
      .addColumn('created_at_ms', 'bigint', (column) => column.notNull())
      .addColumn('updated_at_ms', 'bigint', (column) => column.notNull())
    for (const column of integers) nodes = nodes.addColumn(column, 'integer', (each) => each.notNull())
    await nodes.execute()
    await db.schema.createIndex('geo_nodes_application').on('geo_nodes').column('oauth_application_id').execute()
    await db.schema
      .createTable('geo_node_groups')
      .addColumn('geo_node_id', 'integer', (column) => column.notNull().references('geo_nodes.id').onDelete('cascade'))
      .addColumn('group_id', 'integer', (column) => column.notNull().references('groups.id').onDelete('cascade'))
      .addPrimaryKeyConstraint('geo_node_groups_key', ['geo_node_id', 'group_id'])
      .execute()
    await db.schema.createIndex('geo_node_groups_group').on('geo_node_groups').column('group_id').execute()
  },
}

const integers = [
  'is_primary',
  'is_enabled',
  'files_max_capacity',
  'repos_max_capacity',
  'verification_max_capacity',
  'container_repositories_max_capacity',
  'sync_object_storage',
  'minimum_reverification_interval',
  'blob_download_timeout',
] as const
