import { tableWithId } from '@penstock/db'
import { type Migration, sql } from 'kysely'

/** The e-mail addresses of users: the primary one, which `users` has too, and others. */
export const migration: Migration = {
  async up(db) {
    await tableWithId(db, 'emails')
      .addColumn('user_id', 'integer', (column) => column.notNull().references('users.id').onDelete('cascade'))
      .addColumn('email', 'text', (column) => column.notNull())
      .addColumn('confirmed_at_ms', 'bigint')
      .addColumn('created_at_ms', 'bigint', (column) => column.notNull())
      .execute()
    await sql`insert into emails (user_id, email, confirmed_at_ms, created_at_ms)
      select id, email, created_at_ms, created_at_ms from users order by id`.execute(db)
    await db.schema.createIndex('emails_user').unique().on('emails').columns(['user_id', 'email']).execute()
    // Several users may claim an address; one of them can confirm it.
    await db.schema
      .createIndex('emails_confirmed')
      .unique()
      .on('emails')
      .column('email')
      .where(sql<boolean>`confirmed_at_ms is not null`)
      .execute()
    await db.schema.createIndex('emails_address').on('emails').column('email').execute()
  },
}
