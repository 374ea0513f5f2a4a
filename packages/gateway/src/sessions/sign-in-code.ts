import type { Kysely, Selectable, Transaction } from 'kysely'
import { findApiKey, findFirstAdminKey, isUnexpired } from '../accounts/api-key-store.ts'
import { ApiError } from '../operations/api-error.ts'
import { insertAuditEvent } from '../operations/audit-event.ts'
import type { OperationContext } from '../operations/operation-context.ts'
import { requireRole } from '../operations/roles.ts'
import { KeyedHash } from '../secrets/keyed-hash.ts'
import { newPlainSecret } from '../secrets/token-format.ts'
import type { GatewayTables, SignInCodeTable } from '../store/tables.ts'
import { deleteOldestSignInCodes, findSignInCode, insertSignInCode, takeSignInCode } from './session-store.ts'

/** The time in which a code can be exchanged for a session. */
export const SIGN_IN_CODE_MS = 10 * 60_000
/** The unused codes that one key may have. A further one replaces the oldest. */
const MAX_CODES_PER_KEY = 20

/**
 * Creates a code that one browser can exchange for a session within ten minutes.
 *
 * @param keyId the key that the session belongs to; default: the first Admin key. Throws `api_key_not_found`.
 */
export async function createSignInCode(context: OperationContext, keyId?: string): Promise<string> {
  requireRole(context.actor, 'createSignInCode')
  const nowMs = context.nowMs()
  const code = newPlainSecret(context.randomBytes)
  await context.db.write(async (tx) => {
    const key = keyId === undefined ? await findFirstAdminKey(tx, nowMs) : await findApiKey(tx, keyId)
    if (key === undefined || !isUnexpired(key, nowMs)) {
      throw new ApiError(
        'api_key_not_found',
        keyId === undefined ? 'There is no valid Admin key.' : 'There is no valid API key with this id.',
      )
    }
    await insertSignInCode(tx, {
      mac: new KeyedHash(context.peppers).newestMac(code),
      key_id: key.id,
      created_at_ms: nowMs,
    })
    await deleteOldestSignInCodes(tx, key.id, MAX_CODES_PER_KEY)
    await insertAuditEvent(tx, context, { event: 'sign_in_code.created', subjectId: key.id }, nowMs)
  })
  return code
}

/** Returns the id of the key of a code without using it up; `undefined` if the code is unknown, used or expired. */
export async function keyIdOfSignInCode(
  db: Kysely<GatewayTables>,
  macs: readonly Buffer[],
  nowMs: number,
): Promise<string | undefined> {
  return validKeyId(await findSignInCode(db, macs), nowMs)
}

/** Uses a code up and returns the id of its key; `undefined` if the code is unknown, used or expired. */
export async function redeemSignInCode(
  tx: Transaction<GatewayTables>,
  macs: readonly Buffer[],
  nowMs: number,
): Promise<string | undefined> {
  return validKeyId(await takeSignInCode(tx, macs), nowMs)
}

const validKeyId = (code: Selectable<SignInCodeTable> | undefined, nowMs: number): string | undefined =>
  code !== undefined && code.created_at_ms + SIGN_IN_CODE_MS > nowMs ? code.key_id : undefined
