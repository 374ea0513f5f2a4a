import { DomainError } from '../kit/domain-error.ts'
import type { Core } from '../operations/context.ts'
import { readContextOf } from '../operations/context.ts'
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
 * Verifies a password, for sessions and OAuth tokens alike. Returns the user, in whatever state, or `undefined` if login or
 * password is wrong.
 *
 * After 10 failures in 10 minutes for one login or from one address, right passwords are rejected too. Unknown logins count
 * like known ones. An attempt counts from its beginning, so that concurrent attempts cannot exceed the limit.
 *
 * @throws DomainError `too_often`
 */
export async function verifySignIn(core: Core, attempt: SignInAttempt): Promise<VerifiedPassword | undefined> {
  const attemptId = await beginAttempt(core, attempt)
  const context = readContextOf(core)
  const verified = await verifyPassword(context, attempt.login, attempt.password)
  // Deletes only this attempt. If it deleted those of other logins too, attackers could reset the count of their guesses by
  // signing in to an account of their own.
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
