import { type Kysely, type Migration, sql } from 'kysely'

/** Finds the few banned users, by which PostgreSQL leaves out their snippets without reading all users. */
export const migration: Migration = {
  async up(db: Kysely<unknown>) {
    const index = db.schema.createIndex('users_banned').on('users').column('id')
    await index.where(sql.ref('state'), '=', 'banned').execute()
  },
}
