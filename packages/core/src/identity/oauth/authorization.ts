import type { User } from '../../base/model/user.ts'
import type { Core } from '../../base/operations/context.ts'
import { readContextOf } from '../../base/operations/context.ts'
import { scopesWithin } from '../tokens/scope.ts'
import type { Application } from './application.ts'
import { findApplication } from './application-store.ts'
import { insertCode } from './code-store.ts'
import { grantedScopes } from './granted-scopes.ts'
import { OAuthRefusal } from './oauth-refusal.ts'
import { type Challenge, challengeOf } from './pkce.ts'

const MAX_NONCE_LENGTH = 1_024

export interface AuthorizationRequest {
  readonly clientId?: string | undefined
  readonly redirectUri?: string | undefined
  readonly responseType?: string | undefined
  readonly scope?: string | undefined
  readonly codeChallenge?: string | undefined
  readonly codeChallengeMethod?: string | undefined
  readonly nonce?: string | undefined
}

/** The consent that a user is asked for. */
export interface Authorization {
  readonly application: Application
  readonly redirectUri: string
  readonly scopes: readonly string[]
  readonly challenge: Challenge | undefined
  readonly nonce: string | undefined
}

export type CheckedAuthorization =
  | { readonly kind: 'consent_needed'; readonly authorization: Authorization }
  /** The request is refused. The redirect URI is registered, so the refusal is sent there. */
  | { readonly kind: 'refused'; readonly refusal: OAuthRefusal; readonly redirectUri: string }

/**
 * Validates an authorization request. Public applications must send a challenge (PKCE).
 *
 * @param user the user who is asked for consent: scopes that this user does not have are refused; `undefined` before
 *   sign-in
 * @throws OAuthRefusal `invalid_client`, `invalid_request`, if there is no redirect URI that can be trusted
 * @see RFC 6749 4.1.1, 4.1.2.1; RFC 9700 2.1.1
 */
export async function checkAuthorization(
  core: Core,
  request: AuthorizationRequest,
  user?: Pick<User, 'isAdministrator'>,
): Promise<CheckedAuthorization> {
  const { clientId, redirectUri } = request
  if (clientId === undefined) throw new OAuthRefusal('invalid_request', 'clientId')
  const application = await findApplication(readContextOf(core), clientId)
  if (application === undefined) throw new OAuthRefusal('invalid_client')
  if (redirectUri === undefined) throw new OAuthRefusal('invalid_request', 'redirectUri')
  if (!application.redirectUris.includes(redirectUri)) throw new OAuthRefusal('invalid_request')
  try {
    return {
      kind: 'consent_needed',
      authorization: { application, redirectUri, ...termsOf(application, request, user) },
    }
  } catch (refusal) {
    if (!(refusal instanceof OAuthRefusal)) throw refusal
    return { kind: 'refused', refusal, redirectUri }
  }
}

/**
 * Records the consent of the user. Returns the authorization code, which is valid once, for 10 minutes.
 *
 * @param authTimeMs when the user signed in
 */
export async function allowAuthorization(
  core: Core,
  userId: number,
  { application, ...terms }: Authorization,
  authTimeMs?: number,
): Promise<string> {
  return core.db.write((db) =>
    insertCode({ db, nowMs: core.clock.nowMs() }, core, {
      ...terms,
      applicationId: application.id,
      userId,
      authTimeMs,
    }),
  )
}

function termsOf(
  application: Application,
  request: AuthorizationRequest,
  user: Pick<User, 'isAdministrator'> | undefined,
): Pick<Authorization, 'scopes' | 'challenge' | 'nonce'> {
  if (request.responseType === undefined) throw new OAuthRefusal('invalid_request', 'responseType')
  if (request.responseType !== 'code') throw new OAuthRefusal('unsupported_response_type')
  const { codeChallenge, codeChallengeMethod, nonce } = request
  if (nonce !== undefined && nonce.length > MAX_NONCE_LENGTH) throw new OAuthRefusal('invalid_request')
  if (codeChallenge === undefined && !application.isConfidential) {
    throw new OAuthRefusal('invalid_request', 'codeChallenge')
  }
  const challenge = codeChallenge === undefined ? undefined : challengeOf(codeChallenge, codeChallengeMethod)
  if (codeChallenge !== undefined && challenge === undefined) throw new OAuthRefusal('invalid_request')
  const allowed = user === undefined ? application.scopes : scopesWithin(application.scopes, user)
  return { challenge, nonce, scopes: grantedScopes(request.scope, allowed) }
}
