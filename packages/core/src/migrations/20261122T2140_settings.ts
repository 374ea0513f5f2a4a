import { type Migration, sql } from 'kysely'

/** The settings of projects, groups and users: one JSON text, and columns for those that rules or lists need. */
export const migration: Migration = {
  async up(db) {
    const text = (table: string, column: string, fallback?: string) =>
      db.schema
        .alterTable(table)
        .addColumn(column, 'text', (definition) =>
          fallback === undefined ? definition : definition.notNull().defaultTo(fallback),
        )
        .execute()
    const integer = (table: string, column: string, fallback: number) =>
      db.schema
        .alterTable(table)
        .addColumn(column, 'integer', (definition) => definition.notNull().defaultTo(fallback))
        .execute()
    for (const table of ['projects', 'groups', 'users']) {
      await text(table, 'settings', '{}')
      // The file name of the picture; its bytes are in `avatars`.
      await text(table, 'avatar')
    }
    await text('groups', 'default_branch')
    await text('groups', 'project_creation_level', 'developer')
    await text('groups', 'subgroup_creation_level', 'maintainer')
    await integer('users', 'is_external', 0)
    await integer('users', 'can_create_group', 1)
    await integer('users', 'projects_limit', 100_000)

    await db.schema.alterTable('users').addColumn('updated_at_ms', 'bigint').execute()
    await sql`update users set updated_at_ms = created_at_ms`.execute(db)

    await db.schema
      .createTable('avatars')
      .addColumn('user_id', 'integer', (column) => column.unique().references('users.id').onDelete('cascade'))
      .addColumn('group_id', 'integer', (column) => column.unique().references('groups.id').onDelete('cascade'))
      .addColumn('project_id', 'integer', (column) => column.unique().references('projects.id').onDelete('cascade'))
      .addColumn('content_type', 'text', (column) => column.notNull())
      .addColumn('content_base64', 'text', (column) => column.notNull())
      .execute()

    // For counting the open issues of projects.
    await db.schema
      .createIndex('issues_open')
      .on('issues')
      .columns(['project_id', 'state', 'is_confidential'])
      .execute()

    await db.schema
      .createTable('project_topics')
      .addColumn('project_id', 'integer', (column) => column.notNull().references('projects.id').onDelete('cascade'))
      .addColumn('position', 'integer', (column) => column.notNull())
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('folded_name', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('project_topics_key', ['project_id', 'position'])
      .execute()
    await db.schema
      .createIndex('project_topics_name')
      .on('project_topics')
      .columns(['folded_name', 'project_id'])
      .execute()
  },
}
