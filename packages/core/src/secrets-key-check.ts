import { createHmac } from 'node:crypto'
import type { Db } from '@penstock/db'
import type { Kysely } from 'kysely'
import type { CoreTables } from './base/kit/tables.ts'
import { parentOfRow } from './base/model/parent.ts'
import { UnsealError, unsealText } from './base/secrets/sealed-text.ts'
import { variablePlace } from './ci/variables/variable-store.ts'
import { signingKeyPlace } from './identity/oauth/signing-key-store.ts'
import { hookSecretsPlace } from './instance/hooks/hook-secrets.ts'

declare module './base/kit/tables.ts' {
  interface CoreTables {
    secrets_key_check: SecretsKeyCheckTable
  }
}

/** At most one row, with id 1. */
interface SecretsKeyCheckTable {
  id: number
  /** HMAC-SHA-256(key, fixed text) in hex, from which the key cannot be found. */
  check_value: string
}

/** Returns whether the database has been used with a secrets key, so that a new key could not decrypt its secrets. */
export async function needsSecretsKey({ read }: Pick<Db<CoreTables>, 'read'>): Promise<boolean> {
  if ((await findCheckValue(read)) !== undefined) return true
  // Versions before the check value always created a user right after the key.
  return (await read.selectFrom('users').select('id').limit(1).executeTakeFirst()) !== undefined
}

/**
 * Returns whether the secrets of the database were encrypted with this key. A database without a check value gets that of the key, unless
 * it has a secret that the key cannot decrypt.
 *
 * @param replaces stores the check value of the key also if another key was used before
 */
export async function acceptsSecretsKey(
  db: Db<CoreTables>,
  key: Uint8Array,
  { replaces }: { readonly replaces: boolean },
): Promise<boolean> {
  const value = checkValueOf(key)
  if ((await findCheckValue(db.read)) === value) return true
  if (!replaces && !(await matchesSecretsKey(db, key))) return false
  return db.write(async (tx) => {
    await tx
      .insertInto('secrets_key_check')
      .values({ id: 1, check_value: value })
      .onConflict((conflict) => {
        const column = conflict.column('id')
        return replaces ? column.doUpdateSet({ check_value: value }) : column.doNothing()
      })
      .execute()
    return (await findCheckValue(tx)) === value
  })
}

/** Returns whether the secrets of the database were encrypted with this key, or whether it has none. Changes nothing. */
export async function matchesSecretsKey({ read }: Pick<Db<CoreTables>, 'read'>, key: Uint8Array): Promise<boolean> {
  const stored = await findCheckValue(read)
  return stored === undefined ? canUnseal(read, key) : stored === checkValueOf(key)
}

const checkValueOf = (key: Uint8Array): string =>
  createHmac('sha256', key).update('penstock secrets key check').digest('hex')

async function findCheckValue(db: Kysely<CoreTables>): Promise<string | undefined> {
  return (await db.selectFrom('secrets_key_check').select('check_value').executeTakeFirst())?.check_value
}

/** Returns whether the key decrypts the newest secret of each kind that most cores have. */
async function canUnseal(db: Kysely<CoreTables>, key: Uint8Array): Promise<boolean> {
  const keys = await db.selectFrom('oauth_signing_keys').selectAll().orderBy('id', 'desc').limit(1).execute()
  const variables = await db.selectFrom('ci_variables').selectAll().orderBy('id', 'desc').limit(1).execute()
  const hooks = await db.selectFrom('hooks').selectAll().orderBy('id', 'desc').limit(1).execute()
  return [
    ...keys.map((row) => ({ place: signingKeyPlace(row.kid), sealed: row.sealed_private_jwk })),
    ...variables.map((row) => ({ place: variablePlace(parentOfRow(row), row.key), sealed: row.sealed_value })),
    ...hooks.map((row) => ({
      place: hookSecretsPlace({ projectId: row.project_id, url: row.url }),
      sealed: row.secrets,
    })),
  ].every(({ place, sealed }) => isSealedWith(key, place, sealed))
}

function isSealedWith(key: Uint8Array, place: readonly string[], sealed: string): boolean {
  try {
    unsealText(key, place, sealed)
    return true
  } catch (error) {
    if (error instanceof UnsealError) return false
    throw error
  }
}
