import { createHmac } from 'node:crypto'
import type { User } from '../../base/model/user.ts'
import type { Core } from '../../base/operations/context.ts'
import { readContextOf } from '../../base/operations/context.ts'
import { settingOf } from '../../base/settings/setting-of.ts'
import type { Authenticated } from '../tokens/authenticated.ts'
import { equalsInConstantTime, newOpaqueSecret } from '../tokens/opaque-secret.ts'
import { isStillValid } from '../users/password-store.ts'
import { findUser } from '../users/user-store.ts'
import type { SignInAttempt } from './attempt-store.ts'
import {
  deleteSession,
  endOfSession,
  extendSession,
  findLiveSession,
  insertSession,
  type SessionLifetime,
} from './session-store.ts'
import { verifySignIn } from './verify-sign-in.ts'

export type SignInOutcome =
  | { readonly kind: 'signed_in'; readonly user: User; readonly sessionSecret: string }
  | { readonly kind: 'wrong_login_or_password' }
  /** The password is right, but the user may not sign in. */
  | { readonly kind: 'not_active' }
  /** The instance does not accept passwords. */
  | { readonly kind: 'password_disabled' }

/** The longest time between two extensions of a session in use. Each extension costs a write. */
const MAX_EXTEND_AFTER_MS = 3_600_000

/**
 * Starts a session with a new secret, and ends the session that the browser had before, if there is one.
 *
 * @throws DomainError `too_often`
 */
export async function signIn(
  core: Core,
  attempt: SignInAttempt,
  formerSecret: string | undefined,
): Promise<SignInOutcome> {
  if (!(await settingOf(core, 'password_authentication_enabled_for_web'))) return { kind: 'password_disabled' }
  const verified = await verifySignIn(core, attempt)
  if (verified === undefined) return { kind: 'wrong_login_or_password' }
  const { user } = verified
  if (user.state !== 'active') return { kind: 'not_active' }
  const lifetime = await lifetimeOf(core)
  const sessionSecret = await core.db.write(async (db) => {
    const tx = { db, nowMs: core.clock.nowMs() }
    if (!(await isStillValid(tx, verified))) return undefined
    if (formerSecret !== undefined) await deleteSession(tx, formerSecret)
    return insertSession(tx, core, user.id, lifetime)
  })
  if (sessionSecret === undefined) return { kind: 'wrong_login_or_password' }
  return { kind: 'signed_in', user, sessionSecret }
}

export async function signOut(core: Core, sessionSecret: string): Promise<void> {
  await core.db.write((db) => deleteSession({ db }, sessionSecret))
}

const lifetimeOf = async (core: Core): Promise<SessionLifetime> => ({
  idleMs: (await settingOf(core, 'session_expire_delay')) * 60_000,
})

/** Finds a session and extends it; `undefined` if it has expired or its user is not active. */
export async function findSession(core: Core, sessionSecret: string): Promise<Authenticated | undefined> {
  const context = readContextOf(core)
  const session = await findLiveSession(context, sessionSecret)
  if (session === undefined) return undefined
  const user = await findUser(context, session.userId)
  if (user?.state !== 'active') return undefined
  const lifetime = await lifetimeOf(core)
  // A session that began with a longer lifetime is shortened.
  const moveMs = Math.abs(endOfSession(session, context.nowMs, lifetime) - session.expiresAtMs)
  if (moveMs > Math.min(MAX_EXTEND_AFTER_MS, lifetime.idleMs / 10)) {
    await core.db.write((db) => extendSession({ db, nowMs: core.clock.nowMs() }, session, lifetime))
  }
  return { kind: 'session', state: 'valid', id: undefined, user, scopes: ['api'], signedInAtMs: session.createdAtMs }
}

/**
 * Returns a secret for a browser before sign-in. It binds the CSRF tokens of forms to that browser, and identifies no user.
 */
export const newVisitorSecret = (core: Core): string => newOpaqueSecret(core)

/**
 * Returns the token that forms and scripts send with a request. It proves that they could read a page that this service
 * sent to the browser.
 */
export const csrfTokenOf = (sessionSecret: string): string =>
  createHmac('sha256', sessionSecret).update('csrf').digest('hex')

/** The parts of a request that show which page has sent it. */
export interface PageProof {
  readonly csrfToken: string | undefined
  /** The `Sec-Fetch-Site` header: `same-origin`, `cross-site` and so on. @see W3C Fetch Metadata, Sec-Fetch-Site */
  readonly fetchSite: string | undefined
}

/**
 * Returns whether a request comes from one of the service's own pages: it carries the token of its session, and the browser
 * does not report another site as the sender. The latter stops attackers who can set cookies from a neighbouring host name.
 */
export function isFromOurPage(sessionSecret: string, { csrfToken, fetchSite }: PageProof): boolean {
  if (fetchSite !== undefined && fetchSite !== 'same-origin' && fetchSite !== 'none') return false
  return csrfToken !== undefined && equalsInConstantTime(csrfTokenOf(sessionSecret), csrfToken)
}
