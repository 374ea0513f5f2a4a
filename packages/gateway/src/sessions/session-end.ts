import { findApiKey, isUnexpired } from '../accounts/api-key-store.ts'
import { isPlainSecret } from '../secrets/token-format.ts'
import type { GatewayDb } from '../store/tables.ts'
import { deriveSessionId, SESSION_MAX_MS } from './session.ts'

/**
 * Why a session has ended: 24 hours after the sign-in, 8 hours without a request, a sign-out, its API key is revoked or has expired, or
 * its key began more sessions than it may have.
 */
export const sessionEnds = ['max_age', 'unused', 'signed_out', 'key_revoked', 'key_expired', 'too_many'] as const
export type SessionEnd = (typeof sessionEnds)[number]

/** Returns why the session with a secret has ended, by the audit log; `undefined` if the log has no such session. */
export async function findSessionEnd(db: GatewayDb, secret: string, nowMs: number): Promise<SessionEnd | undefined> {
  if (!isPlainSecret(secret)) return undefined
  const events = await db.read
    .selectFrom('audit_events')
    .select(['event', 'actor_id', 'at_ms', 'after_json'])
    .where('subject_id', '=', deriveSessionId(secret))
    .orderBy('at_ms')
    .limit(10)
    .execute()
  const created = events.find(({ event }) => event === 'session.created')
  if (created === undefined) return undefined
  const ended = events.find(({ event }) => event === 'session.ended')
  if (ended !== undefined) return ended.after_json === null ? 'signed_out' : 'too_many'
  const key = created.actor_id === null ? undefined : await findApiKey(db.read, created.actor_id)
  if (key === undefined) return 'key_revoked'
  if (!isUnexpired(key, nowMs)) return 'key_expired'
  return created.at_ms + SESSION_MAX_MS <= nowMs ? 'max_age' : 'unused'
}
