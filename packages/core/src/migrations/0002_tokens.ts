import { tableWithId } from '@penstock/db'
import type { Migration } from 'kysely'

/** Access tokens of people and bots, and tokens of jobs. Only a digest of each is stored. */
export const migration: Migration = {
  async up(db) {
    await tableWithId(db, 'access_tokens')
      .addColumn('kind', 'text', (column) => column.notNull())
      .addColumn('user_id', 'integer', (column) => column.notNull().references('users.id').onDelete('cascade'))
      .addColumn('project_id', 'integer', (column) => column.references('projects.id').onDelete('cascade'))
      .addColumn('group_id', 'integer', (column) => column.references('groups.id').onDelete('cascade'))
      .addColumn('access_level', 'integer')
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('description', 'text')
      .addColumn('scopes', 'text', (column) => column.notNull())
      .addColumn('digest', 'text', (column) => column.notNull())
      .addColumn('family_id', 'integer')
      .addColumn('expires_at', 'text')
      .addColumn('revoked_at_ms', 'bigint')
      .addColumn('last_used_at_ms', 'bigint')
      .addColumn('created_by_id', 'integer', (column) => column.references('users.id').onDelete('set null'))
      .addColumn('created_at_ms', 'bigint', (column) => column.notNull())
      .execute()
    await db.schema.createIndex('access_tokens_digest').unique().on('access_tokens').column('digest').execute()
    await db.schema.createIndex('access_tokens_user').on('access_tokens').column('user_id').execute()
    await db.schema.createIndex('access_tokens_project').on('access_tokens').column('project_id').execute()
    await db.schema.createIndex('access_tokens_group').on('access_tokens').column('group_id').execute()
    await db.schema.createIndex('access_tokens_family').on('access_tokens').column('family_id').execute()

    await tableWithId(db, 'job_tokens')
      .addColumn('project_id', 'integer', (column) => column.notNull().references('projects.id').onDelete('cascade'))
      .addColumn('user_id', 'integer', (column) => column.notNull().references('users.id').onDelete('cascade'))
      .addColumn('digest', 'text', (column) => column.notNull())
      .addColumn('revoked_at_ms', 'bigint')
      .addColumn('created_at_ms', 'bigint', (column) => column.notNull())
      .execute()
    await db.schema.createIndex('job_tokens_digest').unique().on('job_tokens').column('digest').execute()
    await db.schema.createIndex('job_tokens_project').on('job_tokens').column('project_id').execute()
    await db.schema.createIndex('job_tokens_user').on('job_tokens').column('user_id').execute()
  },
}
