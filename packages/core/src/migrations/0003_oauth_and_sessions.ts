import { tableWithId } from '@penstock/db'
import type { Migration } from 'kysely'

/** OAuth applications and grants, browser sessions, and failed password attempts. */
export const migration: Migration = {
  async up(db) {
    await tableWithId(db, 'oauth_applications')
      .addColumn('uid', 'text', (column) => column.notNull().unique())
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('secret_digest', 'text', (column) => column.notNull())
      .addColumn('redirect_uris', 'text', (column) => column.notNull())
      .addColumn('scopes', 'text', (column) => column.notNull())
      .addColumn('is_confidential', 'integer', (column) => column.notNull())
      .addColumn('created_at_ms', 'bigint', (column) => column.notNull())
      .execute()

    await tableWithId(db, 'oauth_codes')
      .addColumn('code_digest', 'text', (column) => column.notNull().unique())
      .addColumn('family', 'text', (column) => column.notNull())
      .addColumn('application_id', 'integer', (column) =>
        column.notNull().references('oauth_applications.id').onDelete('cascade'),
      )
      .addColumn('user_id', 'integer', (column) => column.notNull().references('users.id').onDelete('cascade'))
      .addColumn('redirect_uri', 'text', (column) => column.notNull())
      .addColumn('scopes', 'text', (column) => column.notNull())
      .addColumn('challenge', 'text')
      .addColumn('challenge_method', 'text')
      .addColumn('expires_at_ms', 'bigint', (column) => column.notNull())
      .addColumn('used_at_ms', 'bigint')
      .execute()
    await db.schema.createIndex('oauth_codes_application').on('oauth_codes').column('application_id').execute()
    await db.schema.createIndex('oauth_codes_user').on('oauth_codes').column('user_id').execute()
    await db.schema.createIndex('oauth_codes_expires').on('oauth_codes').column('expires_at_ms').execute()

    await tableWithId(db, 'oauth_tokens')
      .addColumn('access_digest', 'text', (column) => column.notNull().unique())
      .addColumn('refresh_digest', 'text', (column) => column.unique())
      .addColumn('family', 'text', (column) => column.notNull())
      .addColumn('previous_id', 'integer')
      .addColumn('application_id', 'integer', (column) =>
        column.references('oauth_applications.id').onDelete('cascade'),
      )
      .addColumn('user_id', 'integer', (column) => column.references('users.id').onDelete('cascade'))
      .addColumn('scopes', 'text', (column) => column.notNull())
      .addColumn('created_at_ms', 'bigint', (column) => column.notNull())
      .addColumn('expires_at_ms', 'bigint', (column) => column.notNull())
      .addColumn('revoked_at_ms', 'bigint')
      .execute()
    await db.schema.createIndex('oauth_tokens_family').on('oauth_tokens').column('family').execute()
    await db.schema.createIndex('oauth_tokens_user').on('oauth_tokens').columns(['user_id', 'application_id']).execute()
    await db.schema.createIndex('oauth_tokens_application').on('oauth_tokens').column('application_id').execute()
    await db.schema.createIndex('oauth_tokens_revoked').on('oauth_tokens').column('revoked_at_ms').execute()
    await db.schema.createIndex('oauth_tokens_expires').on('oauth_tokens').column('expires_at_ms').execute()

    await tableWithId(db, 'sessions')
      .addColumn('session_digest', 'text', (column) => column.notNull().unique())
      .addColumn('user_id', 'integer', (column) => column.notNull().references('users.id').onDelete('cascade'))
      .addColumn('created_at_ms', 'bigint', (column) => column.notNull())
      .addColumn('expires_at_ms', 'bigint', (column) => column.notNull())
      .execute()
    await db.schema.createIndex('sessions_user').on('sessions').column('user_id').execute()
    await db.schema.createIndex('sessions_expires').on('sessions').column('expires_at_ms').execute()

    await tableWithId(db, 'password_attempts')
      .addColumn('login_digest', 'text', (column) => column.notNull())
      .addColumn('address_digest', 'text', (column) => column.notNull())
      .addColumn('at_ms', 'bigint', (column) => column.notNull())
      .execute()
    for (const column of ['login_digest', 'address_digest'] as const) {
      const name = `password_attempts_${column}`
      await db.schema.createIndex(name).on('password_attempts').columns([column, 'at_ms']).execute()
    }
    await db.schema.createIndex('password_attempts_at').on('password_attempts').column('at_ms').execute()
  },
}
