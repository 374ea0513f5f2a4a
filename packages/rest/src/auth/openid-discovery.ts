import { type Core, claimNames, DEVICE_GRANT, oauthScopes, publishedKeys, SIGNING_ALGORITHM } from '@penstock/core'
import { type Reply, type RouteRequest, type ServedRoute, unguarded } from '@penstock/http'

const KEYS_PATH = '/oauth/discovery/keys'
const WEBFINGER_PATH = '/.well-known/webfinger'
const ISSUER_RELATION = 'http://openid.net/specs/connect/1.0/issuer'
const METADATA_PATHS = ['/.well-known/openid-configuration', '/.well-known/oauth-authorization-server']

/** The paths that programs on other origins may read. */
export const discoveryPaths: readonly string[] = [...METADATA_PATHS, KEYS_PATH, WEBFINGER_PATH]

/**
 * Returns the routes by which applications find the other endpoints and the keys of ID tokens.
 *
 * @see OpenID Connect Discovery 1.0, sections 2 and 3; RFC 8414; RFC 7033
 */
export function discoveryRoutes(core: Core): ServedRoute[] {
  const get = (path: string, json: () => Promise<unknown> | unknown) => ({
    method: 'GET' as const,
    path,
    access: undefined,
    handle: async () => ({ status: 200, json: await json() }),
  })
  return unguarded([
    ...METADATA_PATHS.map((path) => get(path, () => metadataOf(core))),
    get(KEYS_PATH, async () => ({ keys: await publishedKeys(core) })),
    {
      method: 'GET',
      path: WEBFINGER_PATH,
      access: undefined,
      handle: async ({ query }) => issuerOf(core, query),
    },
  ])
}

/**
 * Returns the issuer of an account or URL on this host. The answer does not reveal whether the account exists.
 */
function issuerOf({ settings: { externalUrl } }: Core, { resource, rel }: RouteRequest['query']): Reply {
  const host = typeof resource === 'string' ? hostOf(resource) : undefined
  if (host === undefined) return { status: 400, json: { error: 'resource is invalid' } }
  if (host !== new URL(externalUrl).host) return { status: 404, json: { error: '404 Not Found' } }
  const links = [{ rel: ISSUER_RELATION, href: externalUrl }]
  const wanted = rel === undefined ? links : links.filter((link) => [rel].flat().includes(link.rel))
  return {
    status: 200,
    content: JSON.stringify({ subject: resource, links: wanted }),
    contentType: 'application/jrd+json',
  }
}

/** Returns the host, with its port, of an account such as `acct:mira@example.test` or of a URL. */
function hostOf(resource: string): string | undefined {
  const account = /^acct:[^@\s]+@([^@/\s]+)$/i.exec(resource)?.[1]
  const url = account === undefined ? resource : `https://${account}`
  return /^https?:/i.test(url) && URL.canParse(url) ? new URL(url).host : undefined
}

function metadataOf({ settings: { externalUrl } }: Core) {
  return {
    issuer: externalUrl,
    authorization_endpoint: `${externalUrl}/oauth/authorize`,
    token_endpoint: `${externalUrl}/oauth/token`,
    revocation_endpoint: `${externalUrl}/oauth/revoke`,
    introspection_endpoint: `${externalUrl}/oauth/introspect`,
    userinfo_endpoint: `${externalUrl}/oauth/userinfo`,
    device_authorization_endpoint: `${externalUrl}/oauth/authorize_device`,
    jwks_uri: externalUrl + KEYS_PATH,
    scopes_supported: oauthScopes,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', 'password', 'client_credentials', 'refresh_token', DEVICE_GRANT],
    token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'none'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: [SIGNING_ALGORITHM],
    claim_types_supported: ['normal'],
    claims_supported: ['iss', 'aud', 'exp', 'iat', 'auth_time', 'nonce', ...claimNames],
    code_challenge_methods_supported: ['plain', 'S256'],
    prompt_values_supported: ['none', 'login', 'consent'],
  }
}
