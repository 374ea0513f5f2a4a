import {
  type ClientCredentials,
  type Core,
  describeOAuthToken,
  grantToken,
  introspectOAuthToken,
  OAuthRefusal,
  revokeOAuthToken,
  startDeviceGrant,
} from '@penstock/core'
import { type Incoming, type Reply, type RouteRequest, type ServedRoute, unguarded } from '@penstock/http'
import { z } from 'zod'
import { accountRoutes } from './account.ts'
import { adminSettingsRoutes } from './admin-settings.ts'
import { authorizedApplicationsRoutes } from './authorized-applications.ts'
import { oauthTokenIn } from './bearer-token.ts'
import { notificationLevelRoutes } from './notification-levels.ts'
import { authorizeRoutes } from './oauth-authorize.ts'
import { DEVICE_PATH, deviceRoutes } from './oauth-device.ts'
import { descriptionOf, invalidTokenReply, refusalReply } from './oauth-refusal.ts'
import { userinfoRoutes } from './oauth-userinfo.ts'
import { discoveryRoutes } from './openid-discovery.ts'
import { SMALL_FORM_LIMITS } from './session-cookie.ts'

/**
 * Returns the OAuth 2.0 routes, which are outside `/api/v4`.
 *
 * @see RFC 6749, 7009, 7636, 7662
 */
export function oauthRoutes(core: Core): ServedRoute[] {
  const post = (path: string, answer: (request: RouteRequest) => Promise<Reply>) => ({
    method: 'POST' as const,
    path,
    access: undefined,
    body: z.unknown(),
    forms: SMALL_FORM_LIMITS,
    handle: (request: RouteRequest) => answer(request).catch(oauthError),
  })
  return [
    ...unguarded([
      post('/oauth/token', (request) => issue(core, request)),
      post('/oauth/authorize_device', (request) => startDevice(core, request)),
      post('/oauth/revoke', (request) => revoke(core, request)),
      post('/oauth/introspect', (request) => introspect(core, request)),
      { method: 'GET', path: '/oauth/token/info', access: undefined, handle: (request) => tokenInfo(core, request) },
    ]),
    ...userinfoRoutes(core),
    ...discoveryRoutes(core),
    ...authorizeRoutes(core),
    ...deviceRoutes(core),
    ...authorizedApplicationsRoutes(core),
    ...accountRoutes(core),
    ...notificationLevelRoutes(core),
    ...adminSettingsRoutes(core),
  ]
}

const noStore = { 'Cache-Control': 'no-store', Pragma: 'no-cache' }

async function issue(core: Core, request: RouteRequest): Promise<Reply> {
  const parameters = parametersOf(request.body)
  const issued = await grantToken(core, {
    ...credentialsIn(request, parameters),
    grantType: parameters.grant_type,
    code: parameters.code,
    redirectUri: parameters.redirect_uri,
    codeVerifier: parameters.code_verifier,
    deviceCode: parameters.device_code,
    refreshToken: parameters.refresh_token,
    username: parameters.username,
    password: parameters.password,
    scope: parameters.scope,
    address: request.source,
  })
  return {
    status: 200,
    headers: noStore,
    json: {
      access_token: issued.accessToken,
      token_type: 'Bearer',
      expires_in: issued.expiresInSeconds,
      ...(issued.refreshToken !== undefined && { refresh_token: issued.refreshToken }),
      scope: issued.scopes.join(' '),
      created_at: seconds(issued.createdAtMs),
      ...(issued.idToken !== undefined && { id_token: issued.idToken }),
    },
  }
}

/** @see RFC 8628, sections 3.1 and 3.2 */
async function startDevice(core: Core, request: RouteRequest): Promise<Reply> {
  const parameters = parametersOf(request.body)
  const started = await startDeviceGrant(core, {
    ...credentialsIn(request, parameters),
    scope: parameters.scope,
    address: request.source,
  })
  const page = core.settings.externalUrl + DEVICE_PATH
  return {
    status: 200,
    headers: noStore,
    json: {
      device_code: started.deviceCode,
      user_code: started.userCode,
      verification_uri: page,
      verification_uri_complete: `${page}?user_code=${started.userCode}`,
      expires_in: started.expiresInSeconds,
      interval: started.intervalSeconds,
    },
  }
}

async function revoke(core: Core, request: RouteRequest): Promise<Reply> {
  const parameters = parametersOf(request.body)
  if (parameters.token === undefined) throw new OAuthRefusal('invalid_request', 'token')
  await revokeOAuthToken(core, credentialsIn(request, parameters), parameters.token)
  return { status: 200, headers: noStore, json: {} }
}

async function introspect(core: Core, request: RouteRequest): Promise<Reply> {
  const parameters = parametersOf(request.body)
  const accessToken = oauthTokenIn(request.raw.headers.authorization, {})
  const authentication = accessToken === undefined ? credentialsIn(request, parameters) : { accessToken }
  if (parameters.token === undefined) throw new OAuthRefusal('invalid_request', 'token')
  const info = await introspectOAuthToken(core, authentication, parameters.token)
  if (info === undefined) return { status: 200, headers: noStore, json: { active: false } }
  return {
    status: 200,
    headers: noStore,
    json: {
      active: true,
      scope: info.scopes.join(' '),
      client_id: info.application?.uid,
      token_type: 'Bearer',
      ...(info.expiresAtMs !== undefined && { exp: seconds(info.expiresAtMs) }),
      iat: seconds(info.createdAtMs),
    },
  }
}

async function tokenInfo(core: Core, request: RouteRequest): Promise<Reply> {
  const presented = oauthTokenIn(request.raw.headers.authorization, request.query)
  const info = presented === undefined ? undefined : await describeOAuthToken(core, presented)
  if (info?.state !== 'valid') return invalidTokenReply(info?.state ?? 'invalid')
  const leftSeconds = seconds((info.expiresAtMs ?? 0) - core.clock.nowMs())
  return {
    status: 200,
    headers: noStore,
    json: {
      resource_owner_id: info.userId ?? null,
      scope: info.scopes,
      expires_in: leftSeconds,
      application: { uid: info.application?.uid ?? null },
      created_at: seconds(info.createdAtMs),
      scopes: info.scopes,
      expires_in_seconds: leftSeconds,
    },
  }
}

/** Returns the parameters that have a value. @throws OAuthRefusal for a parameter that is repeated or is not text */
function parametersOf(body: unknown): Readonly<Partial<Record<string, string>>> {
  const isObject = typeof body === 'object' && body !== null && !Array.isArray(body)
  const entries = Object.entries(isObject ? body : {}).filter(([, value]) => value !== null && value !== '')
  for (const [, value] of entries) if (!isValidText(value)) throw new OAuthRefusal('invalid_request')
  return Object.fromEntries(entries)
}

const isValidText = (value: unknown): boolean =>
  typeof value === 'string' && value.isWellFormed() && !value.includes('\0')

/** Returns the client's credentials, from HTTP Basic or else from the parameters. @see RFC 6749, section 2.3.1 */
function credentialsIn({ raw }: Incoming, parameters: Readonly<Partial<Record<string, string>>>): ClientCredentials {
  const encoded = /^basic +([\w+/=-]+) *$/i.exec(raw.headers.authorization ?? '')?.[1]
  if (encoded === undefined) return { clientId: parameters.client_id, clientSecret: parameters.client_secret }
  const pair = Buffer.from(encoded, 'base64').toString('utf8')
  const colon = pair.indexOf(':')
  const [clientId, clientSecret] = [pair.slice(0, Math.max(colon, 0)), pair.slice(colon + 1)].map(formDecoded)
  if (colon === -1 || !isValidText(clientId) || !isValidText(clientSecret)) throw new OAuthRefusal('invalid_client')
  // A client without a secret sends nothing after the colon.
  return { clientId, clientSecret: clientSecret === '' ? undefined : clientSecret }
}

function formDecoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return undefined
  }
}

function oauthError(error: unknown): Reply {
  if (error instanceof OAuthRefusal) {
    const status = error.code === 'invalid_client' ? 401 : error.code === 'unauthorized_client' ? 403 : 400
    return refusalReply(error.code, descriptionOf(error), status)
  }
  throw error
}

const seconds = (ms: number): number => Math.floor(ms / 1_000)
