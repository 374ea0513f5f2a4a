import { tableWithId } from '@penstock/db'
import type { Migration } from 'kysely'

/** The requests of users for a role in a group or project. They are no memberships, and have a table of their own. */
export const migration: Migration = {
  async up(db) {
    await tableWithId(db, 'access_requests')
      .addColumn('user_id', 'integer', (column) => column.notNull().references('users.id').onDelete('cascade'))
      .addColumn('group_id', 'integer', (column) => column.references('groups.id').onDelete('cascade'))
      .addColumn('project_id', 'integer', (column) => column.references('projects.id').onDelete('cascade'))
      .addColumn('created_at_ms', 'bigint', (column) => column.notNull())
      .execute()
    const index = (name: string) => db.schema.createIndex(`access_requests_${name}`).on('access_requests')
    await index('user_group').unique().columns(['user_id', 'group_id']).execute()
    await index('user_project').unique().columns(['user_id', 'project_id']).execute()
    await index('group').columns(['group_id', 'id']).execute()
    await index('project').columns(['project_id', 'id']).execute()
  },
}
