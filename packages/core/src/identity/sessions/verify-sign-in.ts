import { DomainError } from '../../base/kit/domain-error.ts'
import type { Core } from '../../base/operations/context.ts'
import { readContextOf } from '../../base/operations/context.ts'
import { settingsOf } from '../../base/settings/setting-of.ts'
import { type VerifiedPassword, verifyPassword } from '../users/password-store.ts'
import { type AttemptLimit, deleteAttempt, findFreeTimeMs, insertAttempt, type SignInAttempt } from './attempt-store.ts'

/**
 * Verifies a password, for sessions and OAuth tokens alike. Returns the user, in whatever state, or `undefined` if login or
 * password is wrong.
 *
 * After some failures in a period (10 in 10 minutes, unless settings differ) for one login or from one address, right
 * passwords are rejected too. Unknown logins count
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

const DEFAULT_COUNT = 10
const DEFAULT_MINUTES = 10

/** Returns the limit of attempts in force. */
export async function attemptLimitOf(core: Core): Promise<AttemptLimit> {
  const settings = await settingsOf(core)
  return {
    count: settings.max_login_attempts ?? DEFAULT_COUNT,
    periodMs: (settings.failed_login_attempts_unlock_period_in_minutes ?? DEFAULT_MINUTES) * 60_000,
  }
}

async function beginAttempt(core: Core, attempt: SignInAttempt): Promise<number> {
  const limit = await attemptLimitOf(core)
  const begun = await core.db.write(async (db) => {
    const tx = { db, nowMs: core.clock.nowMs() }
    const freeAtMs = await findFreeTimeMs(tx, attempt, limit)
    if (freeAtMs !== undefined) return { waitMs: freeAtMs - tx.nowMs }
    return { id: await insertAttempt(tx, attempt, limit) }
  })
  if (begun.id === undefined) {
    throw new DomainError({ code: 'too_often', retryAfterSeconds: Math.max(1, Math.ceil(begun.waitMs / 1_000)) })
  }
  return begun.id
}
