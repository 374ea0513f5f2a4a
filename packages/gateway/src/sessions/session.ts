import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Log } from '@penstock/runtime'
import type { Transaction } from 'kysely'
import { findApiKey, isUnexpired } from '../accounts/api-key-store.ts'
import { authenticateApiKey } from '../accounts/authenticate-api-key.ts'
import { insertAuditEvent } from '../operations/audit-event.ts'
import type { Actor } from '../operations/operation-context.ts'
import { KeyedHash } from '../secrets/keyed-hash.ts'
import type { Peppers } from '../secrets/pepper.ts'
import { isPlainSecret, newPlainSecret, type RandomBytes } from '../secrets/token-format.ts'
import type { GatewayDb, GatewayTables } from '../store/tables.ts'
import {
  deleteOldestSessions,
  deleteSession,
  deleteSessionsBefore,
  deleteSignInCodesBefore,
  findSessionByMac,
  insertSession,
  type SessionRow,
  updateSessionLastUsed,
} from './session-store.ts'
import { keyIdOfSignInCode, redeemSignInCode, SIGN_IN_CODE_MS } from './sign-in-code.ts'

/** A session ends after this time without a request. */
export const SESSION_IDLE_MS = 8 * 3_600_000
/** A session ends after this time in any case. */
export const SESSION_MAX_MS = 24 * 3_600_000
/** The sessions that one key may have. A further one ends the session that has not been used for longest. */
export const MAX_SESSIONS_PER_KEY = 100
const LAST_USED_PRECISION_MS = 60_000

interface SessionStore {
  readonly db: GatewayDb
  readonly peppers: Peppers
  readonly log: Log
}

/** A valid session. */
export interface Session {
  readonly id: string
  /** The holder of the API key; audit events name the key. */
  readonly actor: Actor
  /** When the session ends if it is not used any more. */
  readonly expiresAtMs: number
  /** The value that requests which change something must send in `X-Penstock-CSRF`. */
  readonly csrfToken: string
}

/** The request that signs in or out, for the audit log. */
interface SessionOrigin {
  readonly source: string
  readonly requestId: string
}

/** The credential of a sign-in: an API key, or the code of a sign-in link. */
type SignInProof = { readonly apiKey: string } | { readonly code: string }

/**
 * Creates a session and returns it with its secret; `undefined` if the key or the code is not valid. A code is used up.
 *
 * The secret is always new, so a secret that someone has placed in the browser is never adopted. The session that the
 * browser had before ends.
 *
 * A proof that is not valid is found by reading, so that guesses start no write transaction.
 *
 * @param store.limit is called with the id of the key before anything is written, and throws if the key may not sign in now
 */
export async function signIn(
  store: SessionStore & { readonly randomBytes: RandomBytes; readonly limit: (keyId: string) => void },
  proof: SignInProof,
  { previousSecret, ...origin }: SessionOrigin & { readonly previousSecret: string | undefined },
  nowMs: number,
): Promise<{ readonly session: Session; readonly secret: string } | undefined> {
  const hash = new KeyedHash(store.peppers)
  const code = 'code' in proof && isPlainSecret(proof.code) ? hash.allMacs(proof.code) : undefined
  const provedId =
    'apiKey' in proof
      ? (await authenticateApiKey(store, proof.apiKey, nowMs))?.id
      : code && (await keyIdOfSignInCode(store.db.read, code, nowMs))
  if (provedId === undefined) return undefined
  store.limit(provedId)
  const secret = newPlainSecret(store.randomBytes)
  return await store.db.write(async (tx) => {
    const keyId = code === undefined ? provedId : await redeemSignInCode(tx, code, nowMs)
    const key = keyId === undefined ? undefined : await findApiKey(tx, keyId)
    if (key === undefined || !isUnexpired(key, nowMs)) return undefined
    if (previousSecret !== undefined && isPlainSecret(previousSecret)) {
      const previous = await findSessionByMac(tx, hash.allMacs(previousSecret))
      if (previous !== undefined) await end(tx, sessionOf(previous, previousSecret), origin, nowMs)
    }
    const id = deriveSessionId(secret)
    const times = { created_at_ms: nowMs, last_used_at_ms: nowMs }
    const row = { id, mac: hash.newestMac(secret), key_id: key.id, ...times }
    for (const endedId of await deleteOldestSessions(tx, key.id, MAX_SESSIONS_PER_KEY - 1)) {
      const ended = { event: 'session.ended', subjectId: endedId, after: { by: 'too_many' } } as const
      await insertAuditEvent(tx, { actor: key, ...origin }, ended, nowMs)
    }
    await insertSession(tx, row)
    const event = {
      event: 'session.created',
      subjectId: id,
      after: { by: 'code' in proof ? 'code' : 'api_key' },
    } as const
    await insertAuditEvent(tx, { actor: key, ...origin }, event, nowMs)
    const ofKey = { key_name: key.name, key_role: key.role, key_expires_at_ms: key.expires_at_ms }
    return { session: sessionOf({ ...row, ...ofKey }, secret), secret }
  })
}

/** Returns the session with a secret, or `undefined` if it has ended or its key is not valid any more. The call is a use of the session. */
export async function findSession(
  { db, peppers, log }: SessionStore,
  secret: string,
  nowMs: number,
): Promise<Session | undefined> {
  if (!isPlainSecret(secret)) return undefined
  const row = await findSessionByMac(db.read, new KeyedHash(peppers).allMacs(secret))
  if (row === undefined || endOf(row) <= nowMs) return undefined
  if (nowMs - row.last_used_at_ms < LAST_USED_PRECISION_MS) return sessionOf(row, secret)
  try {
    await db.write((tx) => updateSessionLastUsed(tx, row.id, nowMs))
  } catch (error) {
    // The caller may only read, so a failed write of the last use does not fail the request.
    const { message } = error as Error
    log.warn({ event: 'session.untouched', error: message }, 'The last use of a session could not be recorded')
    return sessionOf(row, secret)
  }
  return sessionOf({ ...row, last_used_at_ms: nowMs }, secret)
}

/** Ends a session at the wish of its user. */
export async function endSession(
  { db }: Pick<SessionStore, 'db'>,
  session: Session,
  origin: SessionOrigin,
  nowMs: number,
): Promise<void> {
  await db.write((tx) => end(tx, session, origin, nowMs))
}

/** Deletes sessions and codes that have ended. They are refused before, as soon as they end. */
export async function purgeSessions(db: GatewayDb, nowMs: number): Promise<void> {
  await db.write(async (tx) => {
    await deleteSessionsBefore(tx, { createdMs: nowMs - SESSION_MAX_MS, lastUsedMs: nowMs - SESSION_IDLE_MS })
    await deleteSignInCodesBefore(tx, nowMs - SIGN_IN_CODE_MS)
  })
}

/** Returns the id of the session with a secret. It is derived, so that the audit log tells why a session without a row has ended. */
export const deriveSessionId = (secret: string): string =>
  createHmac('sha256', secret).update('id').digest('hex').slice(0, 24)

/** Returns whether a request carries the CSRF token of the session. */
export function hasCsrfToken({ csrfToken }: Session, sent: string | undefined): boolean {
  if (sent === undefined) return false
  const [expected, given] = [Buffer.from(csrfToken), Buffer.from(sent)]
  return expected.length === given.length && timingSafeEqual(expected, given)
}

async function end(tx: Transaction<GatewayTables>, { id, actor }: Session, origin: SessionOrigin, nowMs: number) {
  await deleteSession(tx, id)
  await insertAuditEvent(tx, { actor, ...origin }, { event: 'session.ended', subjectId: id }, nowMs)
}

function endOf({ created_at_ms, last_used_at_ms, key_expires_at_ms }: SessionRow): number {
  const ends = [created_at_ms + SESSION_MAX_MS, last_used_at_ms + SESSION_IDLE_MS]
  return Math.min(...ends, key_expires_at_ms ?? Number.POSITIVE_INFINITY)
}

function sessionOf(row: SessionRow, secret: string): Session {
  return {
    id: row.id,
    actor: { id: row.key_id, name: row.key_name, role: row.key_role },
    expiresAtMs: endOf(row),
    // Derived from the secret, so that it needs no column, and a page that knows it cannot compute the secret.
    csrfToken: createHmac('sha256', secret).update('csrf').digest('hex'),
  }
}
