import type { Generated, Selectable } from 'kysely'
import type { ReadContext } from '../../base/kit/store-context.ts'
import type { Core, Tx } from '../../base/operations/context.ts'
import { newOpaqueSecret } from '../tokens/opaque-secret.ts'
import { scopesOf } from '../tokens/scope.ts'
import { digestOf, digestOfPresented } from '../tokens/token-text.ts'

declare module '../../base/kit/tables.ts' {
  interface CoreTables {
    oauth_device_codes: DeviceCodesTable
  }
}

interface DeviceCodesTable {
  id: Generated<number>
  device_digest: string
  user_code: string
  application_id: number
  scopes: string
  /** The user who has decided. */
  user_id: number | null
  decision: Decision | null
  auth_time_ms: number | null
  interval_seconds: number
  polled_at_ms: number | null
  expires_at_ms: number
}

export type Decision = 'allowed' | 'denied'

/** The request of a device, which shows the user code and polls with the device code. */
export interface DeviceCode {
  readonly id: number
  readonly userCode: string
  readonly applicationId: number
  readonly scopes: readonly string[]
  readonly userId: number | undefined
  /** `undefined` until a user has decided. */
  readonly decision: Decision | undefined
  readonly authTimeMs: number | undefined
  /** The least time between two polls. */
  readonly intervalSeconds: number
  readonly polledAtMs: number | undefined
  readonly expiresAtMs: number
}

/** The codes in plain text; the device code is not stored. */
export interface IssuedDeviceCode {
  readonly deviceCode: string
  readonly userCode: string
}

export const CODE_LIFETIME_SECONDS = 300
export const FIRST_POLL_INTERVAL_SECONDS = 5
/** How long an expired code is stored, so that the device learns that it has expired. */
const RETENTION_MS = 60 * 60_000
/** The letters of user codes: no vowels, so that they form no words. */
const USER_CODE_LETTERS = 'BCDFGHJKLMNPQRSTVWXZ'
const USER_CODE_LENGTH = 8
/** The largest multiple of 20 that a byte can hold: bytes from here on would favour the first letters. */
const FIRST_BIASED_BYTE = 240

type Writing = Pick<Tx, 'db' | 'nowMs'>

/** Inserts a code, or returns `undefined` if its user code is in use. */
export async function insertDeviceCode(
  { db, nowMs }: Writing,
  core: Core,
  { applicationId, scopes }: Pick<DeviceCode, 'applicationId' | 'scopes'>,
): Promise<IssuedDeviceCode | undefined> {
  const deviceCode = newOpaqueSecret(core)
  const userCode = newUserCode(core)
  const inserted = await db
    .insertInto('oauth_device_codes')
    .values({
      device_digest: digestOf(deviceCode),
      user_code: userCode,
      application_id: applicationId,
      scopes: scopes.join(' '),
      user_id: null,
      decision: null,
      auth_time_ms: null,
      interval_seconds: FIRST_POLL_INTERVAL_SECONDS,
      polled_at_ms: null,
      expires_at_ms: nowMs + CODE_LIFETIME_SECONDS * 1_000,
    })
    .onConflict((conflict) => conflict.column('user_code').doNothing())
    .returning('id')
    .executeTakeFirst()
  return inserted && { deviceCode, userCode }
}

function newUserCode({ randomBytes }: Core): string {
  let code = ''
  while (code.length < USER_CODE_LENGTH) {
    for (const byte of randomBytes(2 * USER_CODE_LENGTH)) {
      if (byte < FIRST_BIASED_BYTE && code.length < USER_CODE_LENGTH) {
        code += USER_CODE_LETTERS[byte % USER_CODE_LETTERS.length]
      }
    }
  }
  return code
}

/** Returns whether at least this many codes have not expired. */
export async function hasDeviceCodes(
  { db, nowMs }: Pick<ReadContext, 'db' | 'nowMs'>,
  count: number,
): Promise<boolean> {
  const last = await db
    .selectFrom('oauth_device_codes')
    .select('id')
    .where('expires_at_ms', '>', nowMs)
    .limit(1)
    .offset(count - 1)
    .executeTakeFirst()
  return last !== undefined
}

export async function findByDeviceCode({ db }: ReadContext, deviceCode: string): Promise<DeviceCode | undefined> {
  const digest = digestOfPresented(deviceCode)
  if (digest === undefined) return undefined
  const row = await db
    .selectFrom('oauth_device_codes')
    .selectAll()
    .where('device_digest', '=', digest)
    .executeTakeFirst()
  return row && codeOf(row)
}

/** Finds the code that waits for a decision; `undefined` if there is none, or it has expired. */
export async function findUndecided({ db, nowMs }: ReadContext, userCode: string): Promise<DeviceCode | undefined> {
  const row = await db
    .selectFrom('oauth_device_codes')
    .selectAll()
    .where('user_code', '=', userCode)
    .where('decision', 'is', null)
    .where('expires_at_ms', '>', nowMs)
    .executeTakeFirst()
  return row && codeOf(row)
}

export async function storeDecision(
  { db }: Pick<Tx, 'db'>,
  { id }: DeviceCode,
  decision: { readonly decision: Decision; readonly userId: number; readonly authTimeMs: number },
): Promise<void> {
  await db
    .updateTable('oauth_device_codes')
    .set({ decision: decision.decision, user_id: decision.userId, auth_time_ms: decision.authTimeMs })
    .where('id', '=', id)
    .execute()
}

export async function storePoll({ db, nowMs }: Writing, { id }: DeviceCode, intervalSeconds: number): Promise<void> {
  await db
    .updateTable('oauth_device_codes')
    .set({ polled_at_ms: nowMs, interval_seconds: intervalSeconds })
    .where('id', '=', id)
    .execute()
}

export async function deleteDeviceCode({ db }: Pick<Tx, 'db'>, { id }: DeviceCode): Promise<void> {
  await db.deleteFrom('oauth_device_codes').where('id', '=', id).execute()
}

export async function deleteDeviceCodesOf({ db }: Pick<Tx, 'db'>, userId: number): Promise<void> {
  await db.deleteFrom('oauth_device_codes').where('user_id', '=', userId).execute()
}

export async function deleteExpiredDeviceCodes({ db, nowMs }: Writing): Promise<void> {
  await db
    .deleteFrom('oauth_device_codes')
    .where('expires_at_ms', '<=', nowMs - RETENTION_MS)
    .execute()
}

const codeOf = (row: Selectable<DeviceCodesTable>): DeviceCode => ({
  id: row.id,
  userCode: row.user_code,
  applicationId: row.application_id,
  scopes: scopesOf(row.scopes),
  userId: row.user_id ?? undefined,
  decision: row.decision ?? undefined,
  authTimeMs: row.auth_time_ms ?? undefined,
  intervalSeconds: row.interval_seconds,
  polledAtMs: row.polled_at_ms ?? undefined,
  expiresAtMs: row.expires_at_ms,
})
