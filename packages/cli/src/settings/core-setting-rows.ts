import { row } from './setting-row.ts'
import { address, flag, integer, networks, tokenPrefix, url } from './setting-shapes.ts'

export const coreSettingRows = {
  'core.listen': row('PENSTOCK_CORE_LISTEN', address, '127.0.0.1:8080', 'REST API and sign-in pages of the core.'),
  'core.metricsListen': row(
    'PENSTOCK_CORE_METRICS_LISTEN',
    address,
    undefined,
    'Address of `/metrics`, `/livez` and `/readyz` for `serve core`. Unset: they are not served. With `serve all` they are on `observability.listen`.',
  ),
  'core.externalUrl': row(
    'PENSTOCK_EXTERNAL_URL',
    url('http', 'https'),
    undefined,
    'The prefix of every generated URL, which may contain a path. Unset: `http://` and the bound address.',
  ),
  'core.impersonationEnabled': row(
    'PENSTOCK_IMPERSONATION_ENABLED',
    flag,
    'true',
    'Whether administrators may create tokens that act as another user, and whether such tokens work.',
  ),
  'core.oauthTokenLifetimeSeconds': row(
    'PENSTOCK_OAUTH_TOKEN_LIFETIME_SECONDS',
    integer(60, 365 * 86_400),
    undefined,
    'The lifetime of an OAuth access token. Unset: the application setting `oauth_access_token_expires_in`.',
    { pins: 'oauth_access_token_expires_in' },
  ),
  'core.adminMode': row(
    'PENSTOCK_ADMIN_MODE',
    flag,
    undefined,
    'Whether administrators have administrator rights only with a token that has the scope `admin_mode`. Unset: the application setting `admin_mode`.',
    { pins: 'admin_mode' },
  ),
  'core.personalAccessTokenPrefix': row(
    'PENSTOCK_PERSONAL_ACCESS_TOKEN_PREFIX',
    tokenPrefix,
    undefined,
    'The prefix of new access tokens. Unset: the application setting `personal_access_token_prefix`.',
    { pins: 'personal_access_token_prefix' },
  ),
  'core.disablePersonalAccessTokens': row(
    'PENSTOCK_DISABLE_PERSONAL_ACCESS_TOKENS',
    flag,
    undefined,
    'Whether personal access tokens cannot be created or used. Unset: the application setting `disable_personal_access_tokens`. `false` lets an administrator in who has only such a token.',
    { pins: 'disable_personal_access_tokens' },
  ),
  'core.ropcWithoutClientCredentials': row(
    'PENSTOCK_ROPC_WITHOUT_CLIENT_CREDENTIALS',
    flag,
    undefined,
    'Whether a user can exchange a password for an OAuth token without the credentials of an application. Unset: the application setting `ropc_without_client_credentials`.',
    { pins: 'ropc_without_client_credentials' },
  ),
  'core.settingsCacheSeconds': row(
    'PENSTOCK_SETTINGS_CACHE_SECONDS',
    integer(0, 86_400),
    '60',
    'How long a process uses application settings before it reads them again. A process sees its own changes at once. 0: it reads them for every use.',
  ),
  'core.anonymousPerMinute': row(
    'PENSTOCK_ANONYMOUS_PER_MINUTE',
    integer(1, 10_000_000),
    '600',
    'The highest number of requests per minute and address without a credential.',
  ),
  'core.authenticatedPerMinute': row(
    'PENSTOCK_AUTHENTICATED_PER_MINUTE',
    integer(1, 10_000_000),
    '6000',
    'The highest number of requests per minute and user.',
  ),
  'core.trustedProxies': row(
    'PENSTOCK_TRUSTED_PROXIES',
    networks,
    '',
    'Proxies in front of the core that are trusted to set `X-Forwarded-For`. Unset: none.',
  ),
  'core.maxConnections': row(
    'PENSTOCK_CORE_MAX_CONNECTIONS',
    integer(1, 100_000),
    '1000',
    'The highest number of open connections of the core. At the limit, a new connection closes the oldest one that has no request in progress. If all have one, only health probes are answered on new connections.',
  ),
  'core.maxConnectionsPerAddress': row(
    'PENSTOCK_CORE_MAX_CONNECTIONS_PER_ADDRESS',
    integer(1, 100_000),
    '256',
    'The highest number of open connections of one IPv4 address or one IPv6 network of 64 bits. `core.trustedProxies` are exempt.',
  ),
  'core.strictTransportSeconds': row(
    'PENSTOCK_STRICT_TRANSPORT_SECONDS',
    integer(0, 2 * 365 * 86_400),
    '31536000',
    'If `core.externalUrl` begins with `https`: how long browsers use only HTTPS for its host (`Strict-Transport-Security`). 0: the header is not sent.',
  ),
  'core.projectStorageBytes': row(
    'PENSTOCK_PROJECT_STORAGE_BYTES',
    integer(0, 2 ** 50),
    String(2 ** 30),
    'The bytes that a project may store in Git objects and pipeline records; writes beyond that are refused with 413. 0: no limit.',
  ),
  'core.eventRetentionDays': row(
    'PENSTOCK_EVENT_RETENTION_DAYS',
    integer(1, 36_500),
    '400',
    'How long the audit events (who changed what) are kept.',
  ),
} as const
