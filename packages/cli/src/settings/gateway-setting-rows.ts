import {
  defaultGatewayConfig,
  defaultManagementRules,
  type ListenAddress,
  loopbackProxies,
  nodeInternals,
  POSTGRES_MAX_STALE_MS,
} from '@penstock/gateway'
import { row } from './setting-row.ts'
import {
  addresses,
  choice,
  choices,
  databaseUrl,
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
/** The gateway's default configuration, which is also the default of these settings. */
const defaults = defaultGatewayConfig
const rules = defaultManagementRules
const [http, grpc] = defaults.listeners
const addressText = ({ host, port }: ListenAddress): string => `${host.includes(':') ? `[${host}]` : host}:${port}`
const upstreamUrl = url('http', 'https', 'grpc', 'grpcs')

export const gatewaySettingRows = {
  'gateway.databaseUrl': row(
    'PENSTOCK_GATEWAY_DATABASE_URL',
    databaseUrl,
    undefined,
    'The PostgreSQL database of tokens, API keys, enforcement and usage, for gateways on several hosts. It needs a database or a schema of its own, apart from that of the core. Unset: SQLite in the data directory.',
    { secret: true },
  ),
  'gateway.initialMode': row(
    'PENSTOCK_INITIAL_MODE',
    choice('off', 'report', 'warn', 'enforce'),
    undefined,
    'The mode of enforcement of a new store, for a first start that must not be open. Unset: `off`; with `penstock serve --new-store`, the last mode that the data directory records.',
  ),
  'gateway.http': row(
    'PENSTOCK_OTLP_HTTP_LISTEN',
    addresses,
    addressText(http!.address),
    'Addresses for OTLP/HTTP. They accept gRPC too.',
  ),
  'gateway.grpc': row(
    'PENSTOCK_OTLP_GRPC_LISTEN',
    addresses,
    addressText(grpc!.address),
    'Addresses for OTLP/gRPC. They accept HTTP too.',
  ),
  'gateway.externalUrl': row(
    'PENSTOCK_OTLP_EXTERNAL_URL',
    url('http', 'https'),
    undefined,
    'The OTLP/HTTP base URL that senders use, such as that of a load balancer. The console shows it with each new token. Unset: the first address of `gateway.http`, with the host of the console if that represents every interface.',
  ),
  'gateway.tlsCertFile': row(
    'PENSTOCK_TLS_CERT_FILE',
    text,
    undefined,
    'Certificate chain (PEM). If set, the OTLP ports accept only TLS.',
  ),
  'gateway.tlsKeyFile': row('PENSTOCK_TLS_KEY_FILE', text, undefined, 'Private key (PEM) of that certificate.'),
  'gateway.tlsClientCaFile': row(
    'PENSTOCK_TLS_CLIENT_CA_FILE',
    text,
    undefined,
    'CA certificates (PEM). If set, clients must present a certificate signed by one of them, in addition to their token.',
  ),
  'gateway.upstream': row(
    'PENSTOCK_UPSTREAM',
    upstreamUrl,
    undefined,
    'OTLP base URL that the gateway forwards to: http(s) for OTLP/HTTP, grpc(s) for OTLP/gRPC. Unset: the embedded store.',
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
    'A file with that value, read again when it changes.',
  ),
  'gateway.upstreamCaFile': row(
    'PENSTOCK_UPSTREAM_CA_FILE',
    text,
    undefined,
    'CA certificates (PEM) that the certificate of the upstream must be signed by.',
  ),
  'gateway.upstreamBodyLimitBytes': row(
    'PENSTOCK_UPSTREAM_BODY_LIMIT_BYTES',
    integer(1_024, 1024 ** 3),
    undefined,
    'The largest body that the upstream accepts. Unset: 20 MiB over HTTP, 4 MiB over gRPC.',
  ),
  'gateway.tenantUpstreams': row(
    'PENSTOCK_TENANT_UPSTREAMS',
    upstreamsByTenant('http', 'https', 'grpc', 'grpcs'),
    JSON.stringify(defaults.tenantUpstreams),
    'Map from the tenant of a token to its upstream, for tenants with an upstream of their own.',
    { secret: true },
  ),
  'gateway.unknownTenant': row(
    'PENSTOCK_UNKNOWN_TENANT',
    choice('default-upstream', 'forbidden'),
    defaults.unknownTenant,
    'How requests of tenants without an entry in that map are handled, if the map is not empty.',
  ),
  'gateway.tenantHeader': row(
    'PENSTOCK_TENANT_HEADER',
    flag,
    String(defaults.tenantHeader),
    'Send the tenant of the token to the upstream, in the header `x-scope-orgid`.',
  ),
  'gateway.passCredentialThrough': row(
    'PENSTOCK_PASS_CREDENTIAL_THROUGH',
    flag,
    String(defaults.passCredentialThrough),
    "Send the client's `Authorization` header upstream.",
  ),
  'gateway.extraPaths': row(
    'PENSTOCK_EXTRA_PATHS',
    mapOf(choice('traces', 'metrics', 'logs', 'profiles')),
    JSON.stringify(defaults.extraPaths),
    'Map from further request paths to their signal.',
  ),
  'gateway.credentialSources': row(
    'PENSTOCK_CREDENTIAL_SOURCES',
    choices('x-api-key', 'signoz-ingestion-key', 'x-honeycomb-team', 'bare-authorization', 'query'),
    defaults.credentialSources.join(),
    'Places where a token is accepted in addition to `Authorization: Bearer`.',
  ),
  'gateway.allowedOrigins': row(
    'PENSTOCK_ALLOWED_ORIGINS',
    origins,
    defaults.allowedOrigins.join(),
    'Browser origins that CORS allows; `https://*.example.com` and `*` are possible.',
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
    'The limit on the bytes of all requests in progress in one process.',
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
    'Combine small authenticated requests into larger ones before they are sent upstream.',
  ),
  'gateway.drainDelayMs': row(
    'PENSTOCK_DRAIN_DELAY_MS',
    integer(0, 10 * minute),
    String(defaults.drainDelayMs),
    'The delay between reporting "not ready" and closing the ports at shutdown.',
  ),
  'gateway.drainTimeoutMs': row(
    'PENSTOCK_DRAIN_TIMEOUT_MS',
    integer(0, 10 * minute),
    String(defaults.drainTimeoutMs),
    'How long requests in progress may take after that.',
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
    'The highest number of open connections of each OTLP port and process. At the limit, a new connection closes the oldest one that has no request in progress. If all have one, only health probes are answered on new connections.',
  ),
  'gateway.maxConnectionsPerAddress': row(
    'PENSTOCK_MAX_CONNECTIONS_PER_ADDRESS',
    integer(1, 100_000),
    String(defaults.maxConnectionsPerAddress),
    'The highest number of open connections of one IPv4 address or one IPv6 network of 64 bits. Raise it if all clients connect through one proxy.',
  ),
  'gateway.fastPath': row(
    'PENSTOCK_FAST_PATH',
    flag,
    String(defaults.fastPath),
    'Read requests without the parsers of Node where the gateway can, which costs less. `false` turns off `gateway.http1FastPath`, `gateway.http2Reader` and `gateway.sharedReadBuffer` together.',
  ),
  'gateway.http1FastPath': row(
    'PENSTOCK_HTTP1_FAST_PATH',
    flag,
    String(defaults.http1FastPath),
    'Read requests over HTTP/1.1 in the form that exporters send without node:http. Other requests over HTTP/1.1 are read by node:http in any case.',
  ),
  'gateway.http2Reader': row(
    'PENSTOCK_HTTP2_READER',
    flag,
    String(defaults.http2Reader),
    'Read HTTP/2 without node:http2.',
  ),
  'gateway.sharedReadBuffer': row(
    'PENSTOCK_SHARED_READ_BUFFER',
    flag,
    String(defaults.sharedReadBuffer),
    'Read all connections without TLS into one buffer. This uses an undocumented part of Node; if this Node lacks it, the setting has no effect.',
  ),
  'gateway.avoidedNodeInternals': row(
    'PENSTOCK_AVOIDED_NODE_INTERNALS',
    choices(...nodeInternals),
    defaults.avoidedNodeInternals.join(),
    'Other undocumented parts of Node that the gateway must not use, for a Node in which one of them misbehaves. Requests then cost more.',
  ),
  'gateway.maxStaleMs': row(
    'PENSTOCK_MAX_STALE_MS',
    integer(1_000, 24 * hour),
    undefined,
    `How long the gateway continues with cached tokens while its database cannot be read. Unset: ${defaults.maxStaleMs} on SQLite, ${POSTGRES_MAX_STALE_MS} on PostgreSQL.`,
  ),
  'gateway.healthOnOtlpPorts': row(
    'PENSTOCK_HEALTH_ON_OTLP_PORTS',
    flag,
    String(defaults.healthOnOtlpPorts),
    'Serve `/healthz` on the OTLP ports.',
  ),
  'gateway.ownTelemetryUrl': row(
    'PENSTOCK_OWN_TELEMETRY_URL',
    url('http', 'https'),
    undefined,
    "OTLP/HTTP base URL to which the gateway's own metrics are pushed. Unset: they are not pushed.",
  ),
  'gateway.logAccepted': row(
    'PENSTOCK_LOG_ACCEPTED',
    flag,
    String(defaults.logAccepted),
    'Write an access log line for accepted requests too.',
  ),
  'gateway.warnOfExpiry': row(
    'PENSTOCK_WARN_OF_EXPIRY',
    flag,
    String(defaults.warnOfExpiry),
    'Warn clients in their replies if their token expires within 7 days.',
  ),
  'gateway.expiryWebhookUrl': row(
    'PENSTOCK_EXPIRY_WEBHOOK_URL',
    url('http', 'https'),
    undefined,
    'URL that receives a JSON POST 14, 7, 3 and 1 days and one hour before a token expires, and after it has expired. Unset: no POST is sent.',
    { secret: true },
  ),
  'gateway.tokenLimit': row(
    'PENSTOCK_TOKEN_LIMIT',
    integer(1, 1_000_000),
    String(rules.tokenLimit),
    'The highest number of tokens that are not revoked.',
  ),
  'gateway.uniqueTokenNames': row(
    'PENSTOCK_UNIQUE_TOKEN_NAMES',
    flag,
    String(rules.uniqueNames),
    'Refuse token names that are already in use.',
  ),
  'gateway.forwardAuthProxies': row(
    'PENSTOCK_FORWARD_AUTH_PROXIES',
    networks,
    loopbackProxies.join(),
    'Addresses from which forward-auth requests are trusted.',
  ),
} as const
