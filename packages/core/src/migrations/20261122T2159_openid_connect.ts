import { tableWithId } from '@penstock/db'
import type { Migration } from 'kysely'

/** The keys that sign ID tokens, what ID tokens say about the sign-in, and the codes of the device grant. */
export const migration: Migration = {
  async up(db) {
    await tableWithId(db, 'oauth_signing_keys')
      .addColumn('kid', 'text', (column) => column.notNull().unique())
      .addColumn('public_jwk', 'text', (column) => column.notNull())
      .addColumn('sealed_private_jwk', 'text', (column) => column.notNull())
      .addColumn('created_at_ms', 'bigint', (column) => column.notNull())
      .addColumn('retired_at_ms', 'bigint')
      .execute()
    await db.schema.alterTable('oauth_codes').addColumn('nonce', 'text').execute()
    await db.schema.alterTable('oauth_codes').addColumn('auth_time_ms', 'bigint').execute()
    await db.schema.alterTable('oauth_tokens').addColumn('auth_time_ms', 'bigint').execute()
    await tableWithId(db, 'oauth_device_codes')
      .addColumn('device_digest', 'text', (column) => column.notNull().unique())
      .addColumn('user_code', 'text', (column) => column.notNull().unique())
      .addColumn('application_id', 'integer', (column) =>
        column.notNull().references('oauth_applications.id').onDelete('cascade'),
      )
      .addColumn('scopes', 'text', (column) => column.notNull())
      .addColumn('user_id', 'integer', (column) => column.references('users.id').onDelete('cascade'))
      .addColumn('decision', 'text')
      .addColumn('auth_time_ms', 'bigint')
      .addColumn('interval_seconds', 'integer', (column) => column.notNull())
      .addColumn('polled_at_ms', 'bigint')
      .addColumn('expires_at_ms', 'bigint', (column) => column.notNull())
      .execute()
    await db.schema.createIndex('oauth_device_codes_expiry').on('oauth_device_codes').column('expires_at_ms').execute()
  },
}
