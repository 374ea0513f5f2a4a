import type { ReadContext } from '../../base/kit/store-context.ts'
import type { Core } from '../../base/operations/context.ts'
import { readContextOf } from '../../base/operations/context.ts'
import type { Authenticated, CredentialState } from '../tokens/authenticated.ts'
import { findUser } from '../users/user-store.ts'
import type { Application } from './application.ts'
import { findApplicationById } from './application-store.ts'
import { authenticateClient, type ClientCredentials } from './client.ts'
import { OAuthRefusal } from './oauth-refusal.ts'
import {
  findByAccessToken,
  findByRefreshToken,
  type OAuthToken,
  revokeFamily,
  revokeReplacedBy,
} from './oauth-token-store.ts'

/** Finds the access token that a request presents. Its first use revokes the token that it replaces. */
export async function findOAuthToken(core: Core, accessToken: string): Promise<Authenticated | undefined> {
  const token = await useAccessToken(core, accessToken)
  if (token === undefined) return undefined
  const { id, userId, scopes } = token
  const context = readContextOf(core)
  const user = userId === undefined ? undefined : await findUser(context, userId)
  return { kind: 'oauth', state: stateOf(token, context.nowMs), id, user, scopes }
}

/** The information about a token for its holder or its application. */
export interface OAuthTokenInfo {
  readonly kind: 'access' | 'refresh'
  readonly state: CredentialState
  readonly application: Application | undefined
  readonly userId: number | undefined
  readonly scopes: readonly string[]
  readonly createdAtMs: number
  /** `undefined` for a refresh token, which does not expire. */
  readonly expiresAtMs: number | undefined
}

/** Describes a token to its holder, which is counted as a use; `undefined` if there is no such token. */
export async function describeOAuthToken(core: Core, accessToken: string): Promise<OAuthTokenInfo | undefined> {
  const token = await useAccessToken(core, accessToken)
  return token && infoOf(readContextOf(core), token, 'access')
}

/**
 * Describes a token to its application; `undefined` if the application has no such token, or it is not valid.
 *
 * @param client the credentials of an application with its secret, or an access token of the application
 * @throws OAuthRefusal `invalid_client`
 * @see RFC 7662 2.1, 2.2
 */
export async function introspectOAuthToken(
  core: Core,
  client: ClientCredentials | { readonly accessToken: string },
  presented: string,
): Promise<OAuthTokenInfo | undefined> {
  const context = readContextOf(core)
  const applicationId = await applicationIdOf(core, client)
  const found = await findAccessOrRefreshToken(context, presented)
  if (found === undefined || found.token.applicationId !== applicationId) return undefined
  const info = await infoOf(context, found.token, found.kind)
  return info.state === 'valid' ? info : undefined
}

/**
 * Revokes the token and its whole family; an unknown token is treated as revoked. A token of the password grant without a
 * client can be revoked without client credentials.
 *
 * @throws OAuthRefusal `unauthorized_client`
 * @see RFC 7009 2
 */
export async function revokeOAuthToken(core: Core, credentials: ClientCredentials, presented: string): Promise<void> {
  const application = await authenticateClient(readContextOf(core), credentials).catch((refusal) => {
    throw refusal instanceof OAuthRefusal ? new OAuthRefusal('unauthorized_client') : refusal
  })
  const isOthers = await core.db.write(async (db) => {
    const tx = { db, nowMs: core.clock.nowMs() }
    const found = await findAccessOrRefreshToken(tx, presented)
    if (found === undefined) return false
    const { applicationId, family } = found.token
    if (applicationId !== undefined && applicationId !== application?.id) return true
    await revokeFamily(tx, family)
    return false
  })
  if (isOthers) throw new OAuthRefusal('unauthorized_client')
}

async function useAccessToken(core: Core, accessToken: string): Promise<OAuthToken | undefined> {
  const context = readContextOf(core)
  const token = await findByAccessToken(context, accessToken)
  if (token?.previousId === undefined || stateOf(token, context.nowMs) !== 'valid') return token
  return core.db.write(async (db) => {
    const tx = { db, nowMs: core.clock.nowMs() }
    // Another token from the same refresh may have been used in the meantime.
    const now = await findByAccessToken(tx, accessToken)
    if (now?.previousId !== undefined && !now.isRevoked) await revokeReplacedBy(tx, now)
    return now
  })
}

async function applicationIdOf(
  core: Core,
  client: ClientCredentials | { readonly accessToken: string },
): Promise<number> {
  const context = readContextOf(core)
  if ('accessToken' in client) {
    const token = await useAccessToken(core, client.accessToken)
    if (token?.applicationId === undefined || stateOf(token, context.nowMs) !== 'valid') {
      throw new OAuthRefusal('invalid_client')
    }
    return token.applicationId
  }
  const application = await authenticateClient(context, client)
  if (application === undefined || client.clientSecret === undefined) throw new OAuthRefusal('invalid_client')
  return application.id
}

async function findAccessOrRefreshToken(
  context: ReadContext,
  presented: string,
): Promise<{ token: OAuthToken; kind: OAuthTokenInfo['kind'] } | undefined> {
  const byAccess = await findByAccessToken(context, presented)
  if (byAccess !== undefined) return { token: byAccess, kind: 'access' }
  const byRefresh = await findByRefreshToken(context, presented)
  return byRefresh && { token: byRefresh, kind: 'refresh' }
}

async function infoOf(context: ReadContext, token: OAuthToken, kind: OAuthTokenInfo['kind']): Promise<OAuthTokenInfo> {
  const { applicationId, userId, scopes, createdAtMs } = token
  return {
    kind,
    state: kind === 'access' ? stateOf(token, context.nowMs) : token.isRevoked ? 'revoked' : 'valid',
    application: applicationId === undefined ? undefined : await findApplicationById(context, applicationId),
    userId,
    scopes,
    createdAtMs,
    expiresAtMs: kind === 'access' ? token.expiresAtMs : undefined,
  }
}

function stateOf(token: OAuthToken, nowMs: number): CredentialState {
  if (token.expiresAtMs <= nowMs) return 'expired'
  return token.isRevoked ? 'revoked' : 'valid'
}
