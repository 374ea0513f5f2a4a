import type { Core } from '../kit/context.ts'
import { DomainError } from '../kit/domain-error.ts'
import { type VerifiedPassword, verifyPassword } from '../users/password-store.ts'
import {
  deleteAttempt,
  insertAttempt,
  MAX_ATTEMPTS,
  newestAttempts,
  type SignInAttempt,
  WINDOW_MS,
} from './attempt-store.ts'

/**
 * The one way to a password, for sessions and tokens alike. The user, whatever their state, or `undefined` when there is
 * none with that login and password.
 *
 * Of one login, and from one address, 10 may fail in 10 minutes; then right ones are refused as well. Whether there is such
 * a user makes no difference. An attempt counts from its beginning, so that many at once cannot outrun the count.
 *
 * @throws DomainError `too_often`
 */
export async function verifySignIn(core: Core, attempt: SignInAttempt): Promise<VerifiedPassword | undefined> {
  const attemptId = await beginAttempt(core, attempt)
  const context = { db: core.db.read, nowMs: core.clock.nowMs() }
  const verified = await verifyPassword(context, attempt.login, attempt.password)
  // Only its own: what others have tried stays counted, or one's own account would wash away guesses at others'.
  if (verified !== undefined) await core.db.write((db) => deleteAttempt({ db }, attemptId))
  return verified
}

async function beginAttempt(core: Core, attempt: SignInAttempt): Promise<number> {
  const begun = await core.db.write(async (db) => {
    const tx = { db, nowMs: core.clock.nowMs() }
    const times = await newestAttempts(tx, attempt)
    const freeAtMs = Math.max(...times.map((list) => (list[MAX_ATTEMPTS - 1] ?? Number.NEGATIVE_INFINITY) + WINDOW_MS))
    if (freeAtMs > tx.nowMs) return { waitMs: freeAtMs - tx.nowMs }
    return { id: await insertAttempt(tx, attempt) }
  })
  if (begun.id === undefined) {
    throw new DomainError({ code: 'too_often', retryAfterSeconds: Math.max(1, Math.ceil(begun.waitMs / 1_000)) })
  }
  return begun.id
}
