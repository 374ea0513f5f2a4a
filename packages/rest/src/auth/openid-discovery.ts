import {
  type Core,
  claimNames,
  DEVICE_GRANT,
  oauthScopes,
  publishedKeys,
  readContextOf,
  SIGNING_ALGORITHM,
} from '@penstock/core'
import { type ServedRoute, unguarded } from '@penstock/http'

const KEYS_PATH = '/oauth/discovery/keys'
const METADATA_PATHS = ['/.well-known/openid-configuration', '/.well-known/oauth-authorization-server']

/** The paths that programs on other origins may read. */
export const discoveryPaths: readonly string[] = [...METADATA_PATHS, KEYS_PATH]

/**
 * Returns the routes by which applications find the other endpoints and the keys of ID tokens.
 *
 * @see OpenID Connect Discovery 1.0, section 3; RFC 8414
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
    get(KEYS_PATH, async () => ({ keys: await publishedKeys(readContextOf(core)) })),
  ])
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
