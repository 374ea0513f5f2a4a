import type { Generated } from 'kysely'
import { DAY_MS } from '../../base/kit/day.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import type { Core, Tx } from '../../base/operations/context.ts'
import { newOpaqueSecret } from '../tokens/opaque-secret.ts'
import { digestOf, digestOfPresented } from '../tokens/token-text.ts'

declare module '../../base/kit/tables.ts' {
  interface CoreTables {
    sessions: SessionsTable
  }
}

interface SessionsTable {
  id: Generated<number>
  session_digest: string
  user_id: number
  created_at_ms: number
  expires_at_ms: number
}

/** A browser in which a user has signed in. */
export interface Session {
  readonly id: number
  readonly userId: number
  readonly createdAtMs: number
  readonly expiresAtMs: number
}

export interface SessionLifetime {
  /** How long a session lasts without a request. */
  readonly idleMs: number
}

type Writing = Pick<Tx, 'db' | 'nowMs'>

/** How long a session lasts after signing in, however often it is used. */
const ABSOLUTE_LIFETIME_MS = 30 * DAY_MS
/** The limit of sessions of one user; beyond it the oldest is deleted. */
const MAX_SESSIONS_PER_USER = 100

/** Returns the time at which a session ends if its last use is at `nowMs`. */
export const endOfSession = (
  { createdAtMs }: Pick<Session, 'createdAtMs'>,
  nowMs: number,
  { idleMs }: SessionLifetime,
): number => Math.min(nowMs + idleMs, createdAtMs + ABSOLUTE_LIFETIME_MS)

/** Starts a session. Returns the secret for the browser; only its digest is stored. */
export async function insertSession(
  { db, nowMs }: Writing,
  core: Core,
  userId: number,
  lifetime: SessionLifetime,
): Promise<string> {
  await deleteExpiredSessions({ db, nowMs })
  const secret = newOpaqueSecret(core)
  await db
    .insertInto('sessions')
    .values({
      session_digest: digestOf(secret),
      user_id: userId,
      created_at_ms: nowMs,
      expires_at_ms: endOfSession({ createdAtMs: nowMs }, nowMs, lifetime),
    })
    .execute()
  const surplus = await db
    .selectFrom('sessions')
    .select('id')
    .where('user_id', '=', userId)
    .orderBy('id', 'desc')
    .limit(1)
    .offset(MAX_SESSIONS_PER_USER)
    .executeTakeFirst()
  if (surplus !== undefined) await db.deleteFrom('sessions').where('id', '=', surplus.id).execute()
  return secret
}

export async function deleteExpiredSessions({ db, nowMs }: Writing): Promise<void> {
  await db.deleteFrom('sessions').where('expires_at_ms', '<=', nowMs).execute()
  await db
    .deleteFrom('sessions')
    .where('created_at_ms', '<=', nowMs - ABSOLUTE_LIFETIME_MS)
    .execute()
}

/** Finds a session that has not expired. */
export async function findLiveSession({ db, nowMs }: ReadContext, secret: string): Promise<Session | undefined> {
  const digest = digestOfPresented(secret)
  if (digest === undefined) return undefined
  const row = await db
    .selectFrom('sessions')
    .selectAll()
    .where('session_digest', '=', digest)
    .where('expires_at_ms', '>', nowMs)
    .where('created_at_ms', '>', nowMs - ABSOLUTE_LIFETIME_MS)
    .executeTakeFirst()
  return row && { id: row.id, userId: row.user_id, createdAtMs: row.created_at_ms, expiresAtMs: row.expires_at_ms }
}

/** Extends a session, because it is used now. */
export async function extendSession(
  { db, nowMs }: Writing,
  session: Session,
  lifetime: SessionLifetime,
): Promise<void> {
  await db
    .updateTable('sessions')
    .set({ expires_at_ms: endOfSession(session, nowMs, lifetime) })
    .where('id', '=', session.id)
    .execute()
}

export async function deleteSession({ db }: Pick<Tx, 'db'>, secret: string): Promise<void> {
  const digest = digestOfPresented(secret)
  if (digest !== undefined) await db.deleteFrom('sessions').where('session_digest', '=', digest).execute()
}

/** Deletes all sessions of the user. */
export async function deleteSessionsOf({ db }: Pick<Tx, 'db'>, userId: number): Promise<void> {
  await db.deleteFrom('sessions').where('user_id', '=', userId).execute()
}
