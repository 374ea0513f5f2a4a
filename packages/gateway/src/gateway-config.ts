import { type CoalesceSettings, defaultCoalesceSettings } from './coalesce/coalescing.ts'

export interface ListenAddress {
  readonly host: string
  /** 0: any free port. */
  readonly port: number
}

/** PEM files, read again when they change. */
export interface TlsFiles {
  readonly certFile: string
  readonly keyFile: string
  /** With it, a client must show a certificate that one of these has signed. */
  readonly clientCaFile?: string
}

/** A port that takes telemetry, OTLP/HTTP and OTLP/gRPC alike (P-1). */
export interface OtlpListener {
  readonly address: ListenAddress
  readonly tls?: TlsFiles
}

export interface UpstreamConfig {
  /** `http(s)://host[:port][/prefix]` for OTLP/HTTP, `grpc(s)://host:port` for OTLP/gRPC. */
  readonly url: string
  /** Sent as `Authorization`. A file is read again when it changes. */
  readonly credential?: { readonly header: string } | { readonly file: string }
  readonly caFile?: string
  /** Default 4 MiB over gRPC, 20 MiB over HTTP (C-6). */
  readonly bodyLimitBytes?: number
}

export interface GatewayConfig {
  readonly listeners: readonly OtlpListener[]
  readonly upstream: UpstreamConfig
  /** Tenant → upstream; others go to `upstream`, or are refused. */
  readonly tenantUpstreams: Readonly<Record<string, UpstreamConfig>>
  readonly unknownTenant: 'default-upstream' | 'forbidden'
  /** Sends `x-scope-orgid` from the token's tenant. */
  readonly tenantHeader: boolean
  /** Client's Authorization goes upstream. */
  readonly passCredentialThrough: boolean
  /** Extra request paths → signal, beside the standard ones (P-2). */
  readonly extraPaths: Readonly<Record<string, 'traces' | 'metrics' | 'logs' | 'profiles'>>
  /** Credentials elsewhere than in `Authorization: Bearer` (T-9); off by default. */
  readonly credentialSources: readonly CredentialSource[]
  readonly allowedOrigins: readonly string[]
  /** The limit on wire bytes, and on the inflated bytes of bodies that are inflated. */
  readonly maxBodyBytes: number
  readonly inspectInflatedSize: InflatedSizeInspection
  /** Of all bodies under way together. */
  readonly inFlightBytes: number
  /** Adds `ingest.token.id` and `.name` to each resource. */
  readonly attributeResources: boolean
  readonly coalesce: CoalesceSettings | 'off'
  readonly drainDelayMs: number
  readonly drainTimeoutMs: number
  readonly maxConnectionAgeMs: number
  /** The limits of each listener; see `ListenerSettings`. */
  readonly maxConnections: number
  readonly maxConnectionsPerAddress: number
  /** How old an unconfirmed snapshot may get before it is refused (T-14). */
  readonly maxStaleMs: number
  /** `/healthz` on the OTLP ports. */
  readonly healthOnOtlpPorts: boolean
  /** OTLP/HTTP base URL our own metrics are pushed to; never our own listener (O-15). */
  readonly ownTelemetryUrl: string | undefined
  readonly logAccepted: boolean
  /** Clients are told inside their replies that their token ends soon (O-9). */
  readonly warnOfExpiry: boolean
  /** Told of the ends of tokens, http or https (O-9). */
  readonly expiryWebhookUrl: string | undefined
}

/**
 * Selects the bodies that are inflated only to measure them: those without a valid token, or all. Otherwise a body with
 * a valid token is forwarded unchanged, and the upstream checks its inflated size.
 */
export type InflatedSizeInspection = 'unauthenticated' | 'always'

export type CredentialSource =
  | 'x-api-key'
  | 'signoz-ingestion-key'
  | 'x-honeycomb-team'
  | 'bare-authorization'
  | 'query'

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
  maxStaleMs: 900_000,
  healthOnOtlpPorts: false,
  ownTelemetryUrl: undefined,
  logAccepted: false,
  warnOfExpiry: false,
  expiryWebhookUrl: undefined,
}
