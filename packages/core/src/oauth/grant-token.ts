import type { Core, Reading } from '../kit/context.ts'
import { verifySignIn } from '../sessions/verify-sign-in.ts'
import { oauthScopes } from '../tokens/scope.ts'
import type { User } from '../users/user.ts'
import { findUser } from '../users/user-store.ts'
import { authenticateClient, type ClientCredentials, requireClient } from './client.ts'
import { findCode, markCodeUsed } from './code-store.ts'
import { grantedScopes } from './granted-scopes.ts'
import { OAuthRefusal } from './oauth-refusal.ts'
import { findByRefreshToken, type IssuedToken, insertOAuthToken, revokeFamily } from './oauth-token-store.ts'
import { answers } from './pkce.ts'

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
  const application = await requireClient(readingOf(core), request)
  const presented = required(request, 'code')
  const redirectUri = required(request, 'redirectUri')
  return issuing(core, async (tx) => {
    const code = await findCode(tx, presented)
    if (code === undefined || code.applicationId !== application.id) return undefined
    if (code.isUsed) {
      await revokeFamily(tx, code.family)
      return undefined
    }
    if (code.expiresAtMs <= tx.nowMs || code.redirectUri !== redirectUri) return undefined
    if (!answers(code.challenge, request.codeVerifier)) return undefined
    if (!(await isActive(tx, code.userId))) return undefined
    await markCodeUsed(tx, code.id)
    return insertOAuthToken(tx, core, { ...code, isRefreshable: true })
  })
}

/** A revoked refresh token that comes again has been seen by someone else: everything of its family ends. */
async function forRefreshToken(core: Core, request: TokenRequest): Promise<IssuedToken> {
  const application = await authenticateClient(readingOf(core), request)
  const presented = required(request, 'refreshToken')
  return issuing(core, async (tx) => {
    const token = await findByRefreshToken(tx, presented)
    if (token === undefined || token.applicationId !== application?.id) return undefined
    if (token.isRevoked) {
      await revokeFamily(tx, token.family)
      return undefined
    }
    if (!(await isActive(tx, token.userId))) return undefined
    const scopes = request.scope === undefined ? token.scopes : grantedScopes(request.scope, token.scopes)
    return insertOAuthToken(tx, core, { ...token, scopes, previousId: token.id, isRefreshable: true })
  })
}

async function forPassword(core: Core, request: TokenRequest): Promise<IssuedToken> {
  const application = await authenticateClient(readingOf(core), request)
  const login = required(request, 'username')
  const password = required(request, 'password')
  const scopes = grantedScopes(request.scope, application?.scopes ?? oauthScopes)
  const user = await verifySignIn(core, { login, password, address: request.address })
  if (user?.state !== 'active') throw new OAuthRefusal('invalid_grant')
  return core.db.write((db) =>
    insertOAuthToken({ db, nowMs: core.clock.nowMs() }, core, {
      applicationId: application?.id,
      userId: user.id,
      scopes,
      isRefreshable: true,
    }),
  )
}

/** For itself, with no user behind it and nothing to refresh. */
async function forClient(core: Core, request: TokenRequest): Promise<IssuedToken> {
  const application = await requireClient(readingOf(core), request)
  if (!application.isConfidential) throw new OAuthRefusal('invalid_client')
  const scopes = grantedScopes(request.scope, application.scopes)
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
async function issuing(core: Core, work: (tx: Writing) => Promise<IssuedToken | undefined>): Promise<IssuedToken> {
  const issued = await core.db.write((db) => work({ db, nowMs: core.clock.nowMs() }))
  if (issued === undefined) throw new OAuthRefusal('invalid_grant')
  return issued
}

function required<Name extends keyof TokenRequest>(request: TokenRequest, name: Name): string {
  const value = request[name]
  if (value === undefined) throw new OAuthRefusal('invalid_request', name)
  return value
}

async function isActive(reading: Reading, userId: number | undefined): Promise<boolean> {
  const user: User | undefined = userId === undefined ? undefined : await findUser(reading, userId)
  return user?.state === 'active'
}

const readingOf = (core: Core): Reading => ({ db: core.db.read, nowMs: core.clock.nowMs() })
