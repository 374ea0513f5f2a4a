import { importJWK, SignJWT } from 'jose'
import type { Core } from '../../base/operations/context.ts'
import { readContextOf } from '../../base/operations/context.ts'
import { findUser } from '../users/user-store.ts'
import { findApplicationById } from './application-store.ts'
import { identityClaims } from './identity-claims.ts'
import { currentSigningKey, SIGNING_ALGORITHM } from './signing-key-store.ts'

const LIFETIME_SECONDS = 120

/** The facts about a sign-in that an ID token contains. */
export interface SignInFacts {
  readonly applicationId: number | undefined
  readonly userId: number | undefined
  readonly scopes: readonly string[]
  /** The text from the authorization request, which binds the token to it. */
  readonly nonce?: string | undefined
  /** When the user signed in. */
  readonly authTimeMs?: number | undefined
}

/**
 * Returns a signed ID token, or `undefined` if the scopes do not include `openid`, or there is no user or no application.
 *
 * @see OpenID Connect Core 1.0, section 2
 */
export async function idTokenFor(core: Core, facts: SignInFacts): Promise<string | undefined> {
  const { applicationId, userId, scopes, nonce, authTimeMs } = facts
  if (!scopes.includes('openid') || applicationId === undefined || userId === undefined) return undefined
  const context = readContextOf(core)
  const [application, user] = [await findApplicationById(context, applicationId), await findUser(context, userId)]
  if (application === undefined || user === undefined) return undefined
  const { kid, privateJwk } = await currentSigningKey(core)
  const nowSeconds = Math.floor(core.clock.nowMs() / 1_000)
  return new SignJWT({
    ...(await identityClaims(core, 'id_token', user, scopes)),
    ...(authTimeMs !== undefined && { auth_time: Math.floor(authTimeMs / 1_000) }),
    ...(nonce !== undefined && { nonce }),
  })
    .setProtectedHeader({ typ: 'JWT', alg: SIGNING_ALGORITHM, kid })
    .setIssuer(core.settings.externalUrl)
    .setAudience(application.uid)
    .setIssuedAt(nowSeconds)
    .setExpirationTime(nowSeconds + LIFETIME_SECONDS)
    .sign(await importJWK(privateJwk, SIGNING_ALGORITHM))
}
