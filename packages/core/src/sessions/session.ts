import { createHmac } from 'node:crypto'
import type { Core } from '../kit/context.ts'
import { equalsInConstantTime, newOpaqueSecret } from '../oauth/opaque-secret.ts'
import type { Authenticated } from '../tokens/authenticated.ts'
import { isStillValid } from '../users/password-store.ts'
import type { User } from '../users/user.ts'
import { findUser } from '../users/user-store.ts'
import type { SignInAttempt } from './attempt-store.ts'
import { deleteSession, endOfSession, findLiveSession, insertSession, extendSession } from './session-store.ts'
import { verifySignIn } from './verify-sign-in.ts'

export type SignInOutcome =
  | { readonly kind: 'signed_in'; readonly user: User; readonly sessionSecret: string }
  | { readonly kind: 'wrong_login_or_password' }
  /** Told only to whoever knows the password. */
  | { readonly kind: 'not_active' }

/** A session is not written to more often than this. */
const EXTEND_AFTER_MS = 3_600_000

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
  const verified = await verifySignIn(core, attempt)
  if (verified === undefined) return { kind: 'wrong_login_or_password' }
  const { user } = verified
  if (user.state !== 'active') return { kind: 'not_active' }
  const sessionSecret = await core.db.write(async (db) => {
    const tx = { db, nowMs: core.clock.nowMs() }
    if (!(await isStillValid(tx, verified))) return undefined
    if (formerSecret !== undefined) await deleteSession(tx, formerSecret)
    return insertSession(tx, core, user.id)
  })
  if (sessionSecret === undefined) return { kind: 'wrong_login_or_password' }
  return { kind: 'signed_in', user, sessionSecret }
}

export async function signOut(core: Core, sessionSecret: string): Promise<void> {
  await core.db.write((db) => deleteSession({ db }, sessionSecret))
}

/** `undefined` when it has ended, or its user may not use it. To be looked up prolongs it. */
export async function findSession(core: Core, sessionSecret: string): Promise<Authenticated | undefined> {
  const context = { db: core.db.read, nowMs: core.clock.nowMs() }
  const session = await findLiveSession(context, sessionSecret)
  if (session === undefined) return undefined
  const user = await findUser(context, session.userId)
  if (user?.state !== 'active') return undefined
  if (endOfSession(session, context.nowMs) - session.expiresAtMs > EXTEND_AFTER_MS) {
    await core.db.write((db) => extendSession({ db, nowMs: core.clock.nowMs() }, session))
  }
  return { kind: 'session', state: 'valid', id: undefined, user, scopes: ['api'] }
}

/** For a browser in which nobody has signed in yet: it makes the tokens of forms its own, and stands for nobody. */
export const newVisitorSecret = (core: Core): string => newOpaqueSecret(core)

/** What a form or a script of ours sends along, to show that it could read a page that only this browser was given. */
export const csrfTokenOf = (sessionSecret: string): string =>
  createHmac('sha256', sessionSecret).update('csrf').digest('hex')

/** What a request shows of the page that has sent it. */
export interface PageProof {
  readonly csrfToken: string | undefined
  /** `same-origin`, `cross-site` and so on, as browsers tell of themselves. @see W3C Fetch Metadata, Sec-Fetch-Site */
  readonly fetchSite: string | undefined
}

/**
 * Whether a request comes from a page of ours: it carries the token of its own session, and the browser does not say that
 * another site has sent it. The latter stops who can plant cookies from a neighbouring host name.
 */
export function isFromOurPage(sessionSecret: string, { csrfToken, fetchSite }: PageProof): boolean {
  if (fetchSite !== undefined && fetchSite !== 'same-origin' && fetchSite !== 'none') return false
  return csrfToken !== undefined && equalsInConstantTime(csrfTokenOf(sessionSecret), csrfToken)
}
