import type { Core, ReadContext } from '../kit/context.ts'
import { verifySignIn } from '../sessions/verify-sign-in.ts'
import { oauthScopes, scopesWithin } from '../tokens/scope.ts'
import { isStillValid } from '../users/password-store.ts'
import type { User } from '../users/user.ts'
import { findUser } from '../users/user-store.ts'
import type { Application } from './application.ts'
import { authenticateClient, type ClientCredentials, requireClient } from './client.ts'
import { findCode, markCodeUsed } from './code-store.ts'
import { grantedScopes } from './granted-scopes.ts'
import { OAuthRefusal } from './oauth-refusal.ts'
import {
  findByRefreshToken,
  type IssuedToken,
  insertOAuthToken,
  type OAuthToken,
  revokeFamily,
} from './oauth-token-store.ts'
import { verifierMatches } from './pkce.ts'

/** The parameters of a request for a token; what a grant does not ask for is ignored. */
export interface TokenRequest extends ClientCredentials {
  readonly grantType?: string | undefined
  readonly code?: string | undefined
  readonly redirectUri?: string | undefined
  readonly codeVerifier?: string | undefined
  readonly refreshToken?: string | undefined
  readonly username?: string | undefined
  readonly password?: string | undefined
  readonly scope?: string | undefined
  /** Where it comes from; guesses at passwords are counted by it. */
  readonly address: string
}

const grants: Readonly<Record<string, (core: Core, request: TokenRequest) => Promise<IssuedToken>>> = {
  authorization_code: forCode,
  refresh_token: forRefreshToken,
  password: forPassword,
  client_credentials: forClient,
}

/**
 * @throws OAuthRefusal; DomainError `too_often` after too many wrong passwords
 * @see spec/rest-part2-details.md 2.5; RFC 6749 4.1.3, 4.3, 4.4, 6
 */
export async function grantToken(core: Core, request: TokenRequest): Promise<IssuedToken> {
  const { grantType } = request
  if (grantType === undefined) throw new OAuthRefusal('invalid_request', 'grantType')
  if (!Object.hasOwn(grants, grantType)) throw new OAuthRefusal('unsupported_grant_type')
  return grants[grantType]!(core, request)
}

/** A code that comes a second time has been seen by someone else: what it gave the first time ends. */
async function forCode(core: Core, request: TokenRequest): Promise<IssuedToken> {
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
    return insertOAuthToken(tx, core, { ...code, scopes, isRefreshable: true })
  })
}

/**
 * A revoked refresh token that comes again has been seen by someone else: everything of its family ends. Scopes that the
 * user has lost in the meantime are left out.
 */
async function forRefreshToken(core: Core, request: TokenRequest): Promise<IssuedToken> {
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
    return insertOAuthToken(tx, core, { ...token, scopes, previousId: token.id, isRefreshable: true })
  })
}

/**
 * What was shown for the code is shown again. Absent, it is not missed: RFC 6749 6 does not ask for it, and most clients do
 * not send it.
 */
function isFromSameClient({ redirectUri, challenge }: OAuthToken, request: TokenRequest): boolean {
  const isElsewhere =
    redirectUri !== undefined && request.redirectUri !== undefined && request.redirectUri !== redirectUri
  const isSomeoneElse =
    challenge !== undefined && request.codeVerifier !== undefined && !verifierMatches(challenge, request.codeVerifier)
  return !isElsewhere && !isSomeoneElse
}

async function forPassword(core: Core, request: TokenRequest): Promise<IssuedToken> {
  const application = await clientFor(core, request)
  const login = required(request, 'username')
  const password = required(request, 'password')
  const verified = await verifySignIn(core, { login, password, address: request.address })
  if (verified?.user.state !== 'active') throw new OAuthRefusal('invalid_grant')
  const { user } = verified
  const scopes = grantedScopes(request.scope, scopesWithin(application?.scopes ?? oauthScopes, user))
  return issueInTransaction(core, async (tx) => {
    if (!(await isStillValid(tx, verified))) return undefined
    const draft = { applicationId: application?.id, userId: user.id, scopes, isRefreshable: true }
    return insertOAuthToken(tx, core, draft)
  })
}

/** For itself, with no user behind it and nothing to refresh. */
async function forClient(core: Core, request: TokenRequest): Promise<IssuedToken> {
  const application = await requireClient(readContextOf(core), request)
  if (!application.isConfidential) throw new OAuthRefusal('invalid_client')
  const scopes = grantedScopes(request.scope, scopesWithin(application.scopes, undefined))
  return core.db.write((db) =>
    insertOAuthToken({ db, nowMs: core.clock.nowMs() }, core, {
      applicationId: application.id,
      userId: undefined,
      scopes,
      isRefreshable: false,
    }),
  )
}

type Writing = Parameters<typeof insertOAuthToken>[0]

/** `undefined` commits what was written, a revocation perhaps, and then refuses; an exception would take it back. */
async function issueInTransaction(
  core: Core,
  work: (tx: Writing) => Promise<IssuedToken | undefined>,
): Promise<IssuedToken> {
  const issued = await core.db.write((db) => work({ db, nowMs: core.clock.nowMs() }))
  if (issued === undefined) throw new OAuthRefusal('invalid_grant')
  return issued
}

function required<Name extends keyof TokenRequest>(request: TokenRequest, name: Name): string {
  const value = request[name]
  if (value === undefined) throw new OAuthRefusal('invalid_request', name)
  return value
}

/** Who has a password needs no application, where the settings let them. @throws OAuthRefusal `invalid_client` */
async function clientFor(core: Core, request: TokenRequest): Promise<Application | undefined> {
  const { ropcWithoutClientCredentials } = core.settings
  return (ropcWithoutClientCredentials ? authenticateClient : requireClient)(readContextOf(core), request)
}

async function findActiveUser(context: ReadContext, userId: number | undefined): Promise<User | undefined> {
  const user = userId === undefined ? undefined : await findUser(context, userId)
  return user?.state === 'active' ? user : undefined
}

const readContextOf = (core: Core): ReadContext => ({ db: core.db.read, nowMs: core.clock.nowMs() })
