import { createHmac } from 'node:crypto'
import type { Core } from '../kit/context.ts'
import { isSameText, newOpaqueSecret } from '../oauth/opaque-secret.ts'
import type { Authenticated } from '../tokens/authenticated.ts'
import type { User } from '../users/user.ts'
import { findUser } from '../users/user-store.ts'
import type { SignInAttempt } from './attempt-store.ts'
import { deleteSession, findLiveSession, insertSession, prolongSession, SESSION_LIFETIME_MS } from './session-store.ts'
import { verifySignIn } from './verify-sign-in.ts'

export type SignInOutcome =
  | { readonly kind: 'signed_in'; readonly user: User; readonly sessionSecret: string }
  | { readonly kind: 'wrong_login_or_password' }
  /** Told only to whoever knows the password. */
  | { readonly kind: 'not_active' }

/** A session is not written to more often than this. */
const PROLONG_AFTER_MS = 3_600_000

/**
 * Begins a new session, under a new secret whatever the browser had before; that session, if it was one, ends.
 *
 * @throws DomainError `too_often`
 */
export async function signIn(
  core: Core,
  attempt: SignInAttempt,
  formerSecret: string | undefined,
): Promise<SignInOutcome> {
  const user = await verifySignIn(core, attempt)
  if (user === undefined) return { kind: 'wrong_login_or_password' }
  if (user.state !== 'active') return { kind: 'not_active' }
  const sessionSecret = await core.db.write(async (db) => {
    const tx = { db, nowMs: core.clock.nowMs() }
    if (formerSecret !== undefined) await deleteSession(tx, formerSecret)
    return insertSession(tx, core, user.id)
  })
  return { kind: 'signed_in', user, sessionSecret }
}

export async function signOut(core: Core, sessionSecret: string): Promise<void> {
  await core.db.write((db) => deleteSession({ db }, sessionSecret))
}

/** `undefined` when it has ended, or its user may not use it. To be looked up prolongs it. */
export async function findSession(core: Core, sessionSecret: string): Promise<Authenticated | undefined> {
  const reading = { db: core.db.read, nowMs: core.clock.nowMs() }
  const session = await findLiveSession(reading, sessionSecret)
  if (session === undefined) return undefined
  const user = await findUser(reading, session.userId)
  if (user?.state !== 'active') return undefined
  if (session.expiresAtMs - reading.nowMs < SESSION_LIFETIME_MS - PROLONG_AFTER_MS) {
    await core.db.write((db) => prolongSession({ db, nowMs: core.clock.nowMs() }, session.id))
  }
  return { kind: 'session', state: 'valid', id: undefined, user, scopes: ['api'] }
}

/** For a browser in which nobody has signed in yet: it makes the tokens of forms its own, and stands for nobody. */
export const newVisitorSecret = (core: Core): string => newOpaqueSecret(core)

/** What a form or a script of ours sends along, to show that it could read a page that only this browser was given. */
export const csrfTokenOf = (sessionSecret: string): string =>
  createHmac('sha256', sessionSecret).update('csrf').digest('hex')

export const isCsrfToken = (sessionSecret: string, token: string): boolean =>
  isSameText(csrfTokenOf(sessionSecret), token)
