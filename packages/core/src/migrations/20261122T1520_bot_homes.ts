import { type Kysely, type Migration, sql } from 'kysely'

/**
 * Stores the project or group of each bot, taken from its tokens, and removes what bots were given beyond that: roles
 * elsewhere, administrator rights, passwords and sessions. A bot without its project or group loses its roles too, and
 * reaches nothing.
 */
export const migration: Migration = {
  async up(db: Kysely<unknown>) {
    for (const [column, table] of [
      ['bot_project_id', 'projects'],
      ['bot_group_id', 'groups'],
    ] as const) {
      await db.schema
        .alterTable('users')
        .addColumn(column, 'integer', (added) => added.references(`${table}.id`).onDelete('set null'))
        .execute()
      await db.schema.createIndex(`users_${column}`).on('users').column(column).execute()
    }
    await sql`
      update users set
        bot_project_id = (select max(project_id) from access_tokens where access_tokens.user_id = users.id),
        bot_group_id = (select max(group_id) from access_tokens where access_tokens.user_id = users.id)
      where is_bot = 1`.execute(db)
    await sql`
      delete from members where exists (
        select 1 from users
        where users.id = members.user_id and users.is_bot = 1
          and (members.project_id is null or users.bot_project_id is null or users.bot_project_id <> members.project_id)
          and (members.group_id is null or users.bot_group_id is null or users.bot_group_id <> members.group_id)
      )`.execute(db)
    await sql`delete from sessions where user_id in (select id from users where is_bot = 1)`.execute(db)
    await sql`update users set is_admin = 0, password_hash = null where is_bot = 1`.execute(db)
  },
}
