import { defaultGatewayConfig, defaultManagementRules, type ListenAddress, loopbackProxies } from '@penstock/gateway'
import { row } from './setting-row.ts'
import {
  addresses,
  choice,
  choices,
  flag,
  integer,
  mapOf,
  networks,
  origins,
  text,
  upstreamsByTenant,
  url,
} from './setting-shapes.ts'

const minute = 60_000
const hour = 60 * minute
/** Defaults are the gateway's own, written as they would be typed. */
const defaults = defaultGatewayConfig
const rules = defaultManagementRules
const [http, grpc] = defaults.listeners
const addressText = ({ host, port }: ListenAddress): string => `${host.includes(':') ? `[${host}]` : host}:${port}`
const upstreamUrl = url('http', 'https', 'grpc', 'grpcs')

export const gatewaySettingRows = {
  'gateway.http': row(
    'PENSTOCK_OTLP_HTTP_LISTEN',
    addresses,
    addressText(http!.address),
    'OTLP/HTTP; gRPC is understood as well.',
  ),
  'gateway.grpc': row(
    'PENSTOCK_OTLP_GRPC_LISTEN',
    addresses,
    addressText(grpc!.address),
    'OTLP/gRPC; HTTP is understood as well.',
  ),
  'gateway.tlsCertFile': row(
    'PENSTOCK_TLS_CERT_FILE',
    text,
    undefined,
    'PEM chain; with it the OTLP ports speak TLS only.',
  ),
  'gateway.tlsKeyFile': row('PENSTOCK_TLS_KEY_FILE', text, undefined, 'PEM key of that certificate.'),
  'gateway.tlsClientCaFile': row(
    'PENSTOCK_TLS_CLIENT_CA_FILE',
    text,
    undefined,
    'PEM; clients must show a certificate these have signed, beside their token.',
  ),
  'gateway.upstream': row(
    'PENSTOCK_UPSTREAM',
    upstreamUrl,
    undefined,
    'OTLP base URL behind the gate: http(s) for OTLP/HTTP, grpc(s) for OTLP/gRPC. Unset: the embedded observe store.',
  ),
  'gateway.upstreamAuthorization': row(
    'PENSTOCK_UPSTREAM_AUTHORIZATION',
    text,
    undefined,
    'Value of the Authorization header sent upstream.',
    { secret: true },
  ),
  'gateway.upstreamAuthorizationFile': row(
    'PENSTOCK_UPSTREAM_AUTHORIZATION_FILE',
    text,
    undefined,
    'The same from a file, read again when it changes.',
  ),
  'gateway.upstreamCaFile': row(
    'PENSTOCK_UPSTREAM_CA_FILE',
    text,
    undefined,
    'PEM; authorities the upstream is trusted by.',
  ),
  'gateway.upstreamBodyLimitBytes': row(
    'PENSTOCK_UPSTREAM_BODY_LIMIT_BYTES',
    integer(1_024, 1024 ** 3),
    undefined,
    'Largest body upstream takes. Unset: 20 MiB over HTTP, 4 MiB over gRPC.',
  ),
  'gateway.tenantUpstreams': row(
    'PENSTOCK_TENANT_UPSTREAMS',
    upstreamsByTenant('http', 'https', 'grpc', 'grpcs'),
    JSON.stringify(defaults.tenantUpstreams),
    'Tenant of a token → upstream, where it differs.',
    { secret: true },
  ),
  'gateway.unknownTenant': row(
    'PENSTOCK_UNKNOWN_TENANT',
    choice('default-upstream', 'forbidden'),
    defaults.unknownTenant,
    'What becomes of tenants that the map does not name, when it names any.',
  ),
  'gateway.tenantHeader': row(
    'PENSTOCK_TENANT_HEADER',
    flag,
    String(defaults.tenantHeader),
    "Send `x-scope-orgid` from the token's tenant.",
  ),
  'gateway.passCredentialThrough': row(
    'PENSTOCK_PASS_CREDENTIAL_THROUGH',
    flag,
    String(defaults.passCredentialThrough),
    "Send the client's own Authorization upstream.",
  ),
  'gateway.extraPaths': row(
    'PENSTOCK_EXTRA_PATHS',
    mapOf(choice('traces', 'metrics', 'logs', 'profiles')),
    JSON.stringify(defaults.extraPaths),
    'Further request paths → signal.',
  ),
  'gateway.credentialSources': row(
    'PENSTOCK_CREDENTIAL_SOURCES',
    choices('x-api-key', 'signoz-ingestion-key', 'x-honeycomb-team', 'bare-authorization', 'query'),
    defaults.credentialSources.join(),
    'Where a token may stand beside `Authorization: Bearer`.',
  ),
  'gateway.allowedOrigins': row(
    'PENSTOCK_ALLOWED_ORIGINS',
    origins,
    defaults.allowedOrigins.join(),
    'Origins of browsers, `https://*.example.com` and `*` included.',
  ),
  'gateway.maxBodyBytes': row(
    'PENSTOCK_MAX_BODY_BYTES',
    integer(1_024, 1024 ** 3),
    String(defaults.maxBodyBytes),
    'The limit on one request on the wire, and on its inflated size if the gateway inflates it.',
  ),
  'gateway.inspectInflatedSize': row(
    'PENSTOCK_INSPECT_INFLATED_SIZE',
    choice('unauthenticated', 'always'),
    defaults.inspectInflatedSize,
    'The bodies that are inflated only to measure them: those without a valid token, or all.',
  ),
  'gateway.inFlightBytes': row(
    'PENSTOCK_IN_FLIGHT_BYTES',
    integer(1024 ** 2, 64 * 1024 ** 3),
    String(defaults.inFlightBytes),
    'Of all requests under way in one process.',
  ),
  'gateway.attributeResources': row(
    'PENSTOCK_ATTRIBUTE_RESOURCES',
    flag,
    String(defaults.attributeResources),
    'Write `ingest.token.id` and `ingest.token.name` into each resource.',
  ),
  'gateway.coalesce': row(
    'PENSTOCK_COALESCE',
    flag,
    String(defaults.coalesce !== 'off'),
    'Join small authenticated requests on their way upstream.',
  ),
  'gateway.drainDelayMs': row(
    'PENSTOCK_DRAIN_DELAY_MS',
    integer(0, 10 * minute),
    String(defaults.drainDelayMs),
    'From "not ready" to closed ports, when the process is asked to end.',
  ),
  'gateway.drainTimeoutMs': row(
    'PENSTOCK_DRAIN_TIMEOUT_MS',
    integer(0, 10 * minute),
    String(defaults.drainTimeoutMs),
    'How long requests under way may then take.',
  ),
  'gateway.maxConnectionAgeMs': row(
    'PENSTOCK_MAX_CONNECTION_AGE_MS',
    integer(1_000, 24 * hour),
    String(defaults.maxConnectionAgeMs),
    'A connection older than this, ± 10 %, is closed after an answer.',
  ),
  'gateway.maxConnections': row(
    'PENSTOCK_MAX_CONNECTIONS',
    integer(1, 100_000),
    String(defaults.maxConnections),
    'The highest number of open connections of each OTLP port and process. A new one replaces the oldest without a request; if every connection has a request, only health probes are answered on new ones.',
  ),
  'gateway.maxConnectionsPerAddress': row(
    'PENSTOCK_MAX_CONNECTIONS_PER_ADDRESS',
    integer(1, 100_000),
    String(defaults.maxConnectionsPerAddress),
    'The same limit for each address, or IPv6 network of 64 bits. Raise it if all clients connect through one proxy.',
  ),
  'gateway.maxStaleMs': row(
    'PENSTOCK_MAX_STALE_MS',
    integer(1_000, 24 * hour),
    String(defaults.maxStaleMs),
    'How long the gate works from memory while its store cannot be read.',
  ),
  'gateway.healthOnOtlpPorts': row(
    'PENSTOCK_HEALTH_ON_OTLP_PORTS',
    flag,
    String(defaults.healthOnOtlpPorts),
    '`/healthz` on the OTLP ports.',
  ),
  'gateway.ownTelemetryUrl': row(
    'PENSTOCK_OWN_TELEMETRY_URL',
    url('http', 'https'),
    undefined,
    "OTLP/HTTP base URL the gateway's own metrics are pushed to. Unset: not pushed.",
  ),
  'gateway.logAccepted': row(
    'PENSTOCK_LOG_ACCEPTED',
    flag,
    String(defaults.logAccepted),
    'An access log line for accepted requests too.',
  ),
  'gateway.warnOfExpiry': row(
    'PENSTOCK_WARN_OF_EXPIRY',
    flag,
    String(defaults.warnOfExpiry),
    'Tell clients inside their replies that their token ends within 7 days.',
  ),
  'gateway.expiryWebhookUrl': row(
    'PENSTOCK_EXPIRY_WEBHOOK_URL',
    url('http', 'https'),
    undefined,
    'Receives a POST of JSON when a token will end in 14, 7, 3 or 1 days or an hour, and when it has. Unset: nobody does.',
    { secret: true },
  ),
  'gateway.tokenLimit': row(
    'PENSTOCK_TOKEN_LIMIT',
    integer(1, 1_000_000),
    String(rules.tokenLimit),
    'Tokens that are not revoked.',
  ),
  'gateway.uniqueTokenNames': row(
    'PENSTOCK_UNIQUE_TOKEN_NAMES',
    flag,
    String(rules.uniqueNames),
    'Refuse a name already in use.',
  ),
  'gateway.forwardAuthProxies': row(
    'PENSTOCK_FORWARD_AUTH_PROXIES',
    networks,
    loopbackProxies.join(),
    'Addresses whose forward-auth requests are believed.',
  ),
} as const
