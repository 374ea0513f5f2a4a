import { type CoalesceSettings, defaultCoalesceSettings } from './coalesce-settings.ts'

export interface ListenAddress {
  readonly host: string
  /** 0 picks any free port. */
  readonly port: number
}

/** PEM files. They are read again when they change. */
export interface TlsFiles {
  readonly certFile: string
  readonly keyFile: string
  /** If set, a client must present a certificate signed by one of these authorities. */
  readonly clientCaFile?: string
}

/** A port that accepts telemetry over both OTLP/HTTP and OTLP/gRPC (P-1). */
export interface OtlpListener {
  readonly address: ListenAddress
  readonly tls?: TlsFiles
}

export interface UpstreamConfig {
  /** `http(s)://host[:port][/prefix]` for OTLP/HTTP, `grpc(s)://host:port` for OTLP/gRPC. */
  readonly url: string
  /** The value of `Authorization` sent to the upstream. A file is read again when it changes. */
  readonly credential?: { readonly header: string } | { readonly file: string }
  readonly caFile?: string
  /** The default is 4 MiB over gRPC and 20 MiB over HTTP (C-6). */
  readonly bodyLimitBytes?: number
}

export interface GatewayConfig {
  readonly listeners: readonly OtlpListener[]
  /** `undefined` only if there are no listeners: then nothing is forwarded. */
  readonly upstream: UpstreamConfig | undefined
  /** Maps a tenant to its upstream. `unknownTenant` decides about tenants that are not listed. */
  readonly tenantUpstreams: Readonly<Record<string, UpstreamConfig>>
  readonly unknownTenant: 'default-upstream' | 'forbidden'
  /** Whether the token's tenant is sent to upstream as `x-scope-orgid`. */
  readonly tenantHeader: boolean
  /** Forwards the client's `Authorization` header upstream. */
  readonly passCredentialThrough: boolean
  /** Request paths, in addition to the standard ones, and the signal of each (P-2). */
  readonly extraPaths: Readonly<Record<string, 'traces' | 'metrics' | 'logs' | 'profiles'>>
  /** Places other than `Authorization: Bearer` where a credential is accepted (T-9). Empty by default. */
  readonly credentialSources: readonly CredentialSource[]
  readonly allowedOrigins: readonly string[]
  /** Limits the wire bytes of a body, and also its inflated bytes if the gateway inflates it. */
  readonly maxBodyBytes: number
  readonly inspectInflatedSize: InflatedSizeInspection
  /** Limits the total bytes of all bodies in flight. */
  readonly inFlightBytes: number
  /** Adds `ingest.token.id` and `ingest.token.name` to each resource. */
  readonly attributeResources: boolean
  readonly coalesce: CoalesceSettings | 'off'
  readonly drainDelayMs: number
  readonly drainTimeoutMs: number
  readonly maxConnectionAgeMs: number
  /** A limit per listener, like `maxConnectionsPerAddress`; see `ListenerSettings`. */
  readonly maxConnections: number
  readonly maxConnectionsPerAddress: number
  /** Whether the gateway reads requests without Node's parsers at all: false turns off the three parts below. */
  readonly fastPath: boolean
  /** Whether requests over HTTP/1.1 in the form that exporters send are read without node:http. */
  readonly http1FastPath: boolean
  /** Whether HTTP/2 is read without node:http2. */
  readonly http2Reader: boolean
  /** Whether all connections without TLS are read into one buffer. */
  readonly sharedReadBuffer: boolean
  readonly avoidedNodeInternals: readonly NodeInternal[]
  /** The maximum age of a snapshot that the store has not confirmed; beyond it every request is refused as retryable (T-14). */
  readonly maxStaleMs: number
  /** Serves `/healthz` on the OTLP ports. */
  readonly healthOnOtlpPorts: boolean
  /** The OTLP/HTTP base URL that the gateway's own metrics are pushed to. It must not be one of its own listeners (O-15). */
  readonly ownTelemetryUrl: string | undefined
  readonly logAccepted: boolean
  /** Warns clients in their replies that their token expires soon (O-9). */
  readonly warnOfExpiry: boolean
  /** The http or https URL that receives a POST for each token that expires soon or has expired (O-9). */
  readonly expiryWebhookUrl: string | undefined
}

/**
 * Selects the bodies that are inflated only to measure them: those without a valid token, or all. Otherwise a body with
 * a valid token is forwarded unchanged, and the upstream checks its inflated size.
 */
export type InflatedSizeInspection = 'unauthenticated' | 'always'

/** Undocumented parts of Node that the gateway uses if they are there, each with a fall-back (`node-internals/`). */
export const nodeInternals = ['request-bodies', 'latin1-text', 'gunzip-length', 'http1-handover'] as const
export type NodeInternal = (typeof nodeInternals)[number]

export type CredentialSource =
  | 'x-api-key'
  | 'signoz-ingestion-key'
  | 'x-honeycomb-team'
  | 'bare-authorization'
  | 'query'

/**
 * The default of `maxStaleMs` for a gateway on PostgreSQL: a server of its own may be away for longer than a file of this
 * machine, and nothing but its operators can bring it back.
 */
export const POSTGRES_MAX_STALE_MS = 86_400_000

export const defaultGatewayConfig: Omit<GatewayConfig, 'upstream'> = {
  listeners: [{ address: { host: '127.0.0.1', port: 4318 } }, { address: { host: '127.0.0.1', port: 4317 } }],
  tenantUpstreams: {},
  unknownTenant: 'default-upstream',
  tenantHeader: false,
  passCredentialThrough: false,
  extraPaths: {},
  credentialSources: [],
  allowedOrigins: [],
  maxBodyBytes: 64 * 1024 * 1024,
  inspectInflatedSize: 'unauthenticated',
  inFlightBytes: 256 * 1024 * 1024,
  attributeResources: false,
  coalesce: defaultCoalesceSettings,
  drainDelayMs: 5_000,
  drainTimeoutMs: 20_000,
  maxConnectionAgeMs: 600_000,
  maxConnections: 10_000,
  maxConnectionsPerAddress: 2_500,
  fastPath: true,
  http1FastPath: true,
  http2Reader: true,
  sharedReadBuffer: true,
  avoidedNodeInternals: [],
  maxStaleMs: 900_000,
  healthOnOtlpPorts: false,
  ownTelemetryUrl: undefined,
  logAccepted: false,
  warnOfExpiry: false,
  expiryWebhookUrl: undefined,
}
