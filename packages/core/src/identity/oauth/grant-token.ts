import type { ReadContext } from '../../base/kit/store-context.ts'
import type { User } from '../../base/model/user.ts'
import type { Core } from '../../base/operations/context.ts'
import { readContextOf } from '../../base/operations/context.ts'
import { settingOf } from '../../base/settings/setting-of.ts'
import { verifySignIn } from '../sessions/verify-sign-in.ts'
import { oauthScopes, scopesWithin } from '../tokens/scope.ts'
import { isStillValid } from '../users/password-store.ts'
import { findUser } from '../users/user-store.ts'
import type { Application } from './application.ts'
import { authenticateClient, type ClientCredentials, requireClient } from './client.ts'
import { findCode, markCodeUsed } from './code-store.ts'
import { deleteDeviceCode, findByDeviceCode, storePoll } from './device-code-store.ts'
import { grantedScopes } from './granted-scopes.ts'
import { idTokenFor, type SignInFacts } from './id-token.ts'
import { OAuthRefusal, type OAuthRefusalCode } from './oauth-refusal.ts'
import {
  findByRefreshToken,
  type IssuedToken,
  insertOAuthToken,
  type OAuthToken,
  revokeFamily,
} from './oauth-token-store.ts'
import { verifierMatches } from './pkce.ts'

/** The parameters of a token request. Each grant type ignores those that it does not use. */
export interface TokenRequest extends ClientCredentials {
  readonly grantType?: string | undefined
  readonly code?: string | undefined
  readonly redirectUri?: string | undefined
  readonly codeVerifier?: string | undefined
  readonly deviceCode?: string | undefined
  readonly refreshToken?: string | undefined
  readonly username?: string | undefined
  readonly password?: string | undefined
  readonly scope?: string | undefined
  /** The IP address of the caller, for which wrong passwords are counted. */
  readonly address: string
}

/** The name of the grant for devices. @see RFC 8628, section 3.4 */
export const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code'

/** The tokens of a grant, and the facts that an ID token states. */
type Granted = IssuedToken & SignInFacts

/** The tokens for an application, and an ID token if it asked for one. */
export interface IssuedTokens extends IssuedToken {
  readonly idToken: string | undefined
}

const grants: Readonly<Record<string, (core: Core, request: TokenRequest) => Promise<Granted>>> = {
  authorization_code: forCode,
  refresh_token: forRefreshToken,
  password: forPassword,
  client_credentials: forClient,
  [DEVICE_GRANT]: forDevice,
}

/**
 * Issues tokens for a token request.
 *
 * @throws OAuthRefusal; DomainError `too_often` after too many wrong passwords
 * @see RFC 6749 4.1.3, 4.3, 4.4, 6
 */
export async function grantToken(core: Core, request: TokenRequest): Promise<IssuedTokens> {
  const { grantType } = request
  if (grantType === undefined) throw new OAuthRefusal('invalid_request', 'grantType')
  if (!Object.hasOwn(grants, grantType)) throw new OAuthRefusal('unsupported_grant_type')
  const granted = await grants[grantType]!(core, request)
  return { ...granted, idToken: await idTokenFor(core, granted) }
}

/** Exchanges a code. A second use means that someone else has seen the code, so the tokens of the first use are revoked. */
async function forCode(core: Core, request: TokenRequest): Promise<Granted> {
  const application = await requireClient(readContextOf(core), request)
  const presented = required(request, 'code')
  const redirectUri = required(request, 'redirectUri')
  return issueInTransaction(core, async (tx) => {
    const code = await findCode(tx, presented)
    if (code === undefined || code.applicationId !== application.id) return undefined
    if (code.isUsed) {
      await revokeFamily(tx, code.family)
      return undefined
    }
    if (code.expiresAtMs <= tx.nowMs || code.redirectUri !== redirectUri) return undefined
    if (!verifierMatches(code.challenge, request.codeVerifier)) return undefined
    const user = await findActiveUser(tx, code.userId)
    const scopes = scopesWithin(code.scopes, user)
    if (user === undefined || scopes.length === 0) return undefined
    await markCodeUsed(tx, code.id)
    return insertGranted(tx, core, { ...code, scopes, isRefreshable: true })
  })
}

/**
 * Exchanges a refresh token. The use of a revoked one means that someone else has seen it, so all tokens of its family are
 * revoked. Scopes that the user has lost in the meantime are left out.
 */
async function forRefreshToken(core: Core, request: TokenRequest): Promise<Granted> {
  const application = await clientFor(core, request)
  const presented = required(request, 'refreshToken')
  return issueInTransaction(core, async (tx) => {
    const token = await findByRefreshToken(tx, presented)
    if (token === undefined || token.applicationId !== application?.id) return undefined
    if (token.isRevoked) {
      await revokeFamily(tx, token.family)
      return undefined
    }
    if (!isFromSameClient(token, request)) return undefined
    const user = await findActiveUser(tx, token.userId)
    const held = scopesWithin(token.scopes, user)
    if (user === undefined || held.length === 0) return undefined
    const scopes = request.scope === undefined ? held : grantedScopes(request.scope, held)
    return insertGranted(tx, core, { ...token, scopes, previousId: token.id, isRefreshable: true })
  })
}

/**
 * Returns whether redirect URI and verifier match those sent with the code. Both are optional: RFC 6749 6 does not require
 * them, and most clients do not send them.
 */
function isFromSameClient({ redirectUri, challenge }: OAuthToken, request: TokenRequest): boolean {
  const hasOtherRedirectUri =
    redirectUri !== undefined && request.redirectUri !== undefined && request.redirectUri !== redirectUri
  const hasWrongVerifier =
    challenge !== undefined && request.codeVerifier !== undefined && !verifierMatches(challenge, request.codeVerifier)
  return !hasOtherRedirectUri && !hasWrongVerifier
}

async function forPassword(core: Core, request: TokenRequest): Promise<Granted> {
  const application = await clientFor(core, request)
  const login = required(request, 'username')
  const password = required(request, 'password')
  const verified = await verifySignIn(core, { login, password, address: request.address })
  if (verified?.user.state !== 'active') throw new OAuthRefusal('invalid_grant')
  const { user } = verified
  const scopes = grantedScopes(request.scope, scopesWithin(application?.scopes ?? oauthScopes, user))
  return issueInTransaction(core, async (tx) => {
    if (!(await isStillValid(tx, verified))) return undefined
    const draft = { applicationId: application?.id, userId: user.id, scopes, isRefreshable: true, authTimeMs: tx.nowMs }
    return insertGranted(tx, core, draft)
  })
}

/** Issues a token that acts for the application itself, without a user and without a refresh token. */
async function forClient(core: Core, request: TokenRequest): Promise<Granted> {
  const application = await requireClient(readContextOf(core), request)
  if (!application.isConfidential) throw new OAuthRefusal('invalid_client')
  const scopes = grantedScopes(request.scope, scopesWithin(application.scopes, undefined))
  return core.db.write((db) =>
    insertGranted({ db, nowMs: core.clock.nowMs() }, core, {
      applicationId: application.id,
      userId: undefined,
      scopes,
      isRefreshable: false,
    }),
  )
}

/** How many seconds are added to the least time between two polls when a device polls too early. */
const SLOWER_SECONDS = 5

/** Exchanges a device code, as soon as a user has allowed the request. Each code gives tokens once. */
async function forDevice(core: Core, request: TokenRequest): Promise<Granted> {
  const application = await requireClient(readContextOf(core), request)
  const presented = required(request, 'deviceCode')
  // A refusal is returned and not thrown, so that the time of the poll is stored.
  const outcome = await core.db.write(async (db): Promise<Granted | OAuthRefusalCode> => {
    const tx = { db, nowMs: core.clock.nowMs() }
    const code = await findByDeviceCode(tx, presented)
    if (code === undefined || code.applicationId !== application.id) return 'invalid_grant'
    if (code.expiresAtMs <= tx.nowMs) return 'expired_token'
    if (code.decision === undefined) {
      const isEarly = code.polledAtMs !== undefined && tx.nowMs - code.polledAtMs < code.intervalSeconds * 1_000
      await storePoll(tx, code, code.intervalSeconds + (isEarly ? SLOWER_SECONDS : 0))
      return isEarly ? 'slow_down' : 'authorization_pending'
    }
    await deleteDeviceCode(tx, code)
    if (code.decision === 'denied') return 'access_denied'
    const user = await findActiveUser(tx, code.userId)
    const scopes = scopesWithin(code.scopes, user)
    if (user === undefined || scopes.length === 0) return 'invalid_grant'
    const { authTimeMs } = code
    return insertGranted(tx, core, {
      applicationId: application.id,
      userId: user.id,
      scopes,
      authTimeMs,
      isRefreshable: true,
    })
  })
  if (typeof outcome === 'string') throw new OAuthRefusal(outcome)
  return outcome
}

type Writing = Parameters<typeof insertOAuthToken>[0]

async function insertGranted(
  tx: Writing,
  core: Core,
  draft: Parameters<typeof insertOAuthToken>[2] & Pick<SignInFacts, 'nonce'>,
): Promise<Granted> {
  const { applicationId, userId, nonce, authTimeMs } = draft
  return { ...(await insertOAuthToken(tx, core, draft)), applicationId, userId, nonce, authTimeMs }
}

/**
 * Runs `work` in a transaction. If it returns `undefined`, its writes, such as a revocation, are kept, and the request is
 * rejected; an exception would roll them back.
 */
async function issueInTransaction(core: Core, work: (tx: Writing) => Promise<Granted | undefined>): Promise<Granted> {
  const issued = await core.db.write((db) => work({ db, nowMs: core.clock.nowMs() }))
  if (issued === undefined) throw new OAuthRefusal('invalid_grant')
  return issued
}

function required<Name extends keyof TokenRequest>(request: TokenRequest, name: Name): string {
  const value = request[name]
  if (value === undefined) throw new OAuthRefusal('invalid_request', name)
  return value
}

/**
 * Returns the application of the request, which is optional if the settings allow it.
 *
 * @throws OAuthRefusal `invalid_client`
 */
async function clientFor(core: Core, request: TokenRequest): Promise<Application | undefined> {
  const isOptional = await settingOf(core, 'ropc_without_client_credentials')
  return (isOptional ? authenticateClient : requireClient)(readContextOf(core), request)
}

async function findActiveUser(context: ReadContext, userId: number | undefined): Promise<User | undefined> {
  const user = userId === undefined ? undefined : await findUser(context, userId)
  return user?.state === 'active' ? user : undefined
}
