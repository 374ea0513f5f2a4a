import {
  defaultGatewayConfig,
  type GatewayConfig,
  POSTGRES_MAX_STALE_MS,
  type TlsFiles,
  type UpstreamConfig,
} from '@penstock/gateway'
import { UsageError } from '../process/environment.ts'
import type { Settings } from './setting-table.ts'

/**
 * Returns the gateway's configuration.
 *
 * @param upstream the configured upstream, or the embedded store if none is set; `undefined` for a process without listeners
 * @throws {UsageError} for settings that contradict each other
 */
export function gatewayConfig(settings: Settings, upstream: UpstreamConfig | undefined): GatewayConfig {
  const tls = tlsFiles(settings)
  const listeners = [...settings['gateway.http'], ...settings['gateway.grpc']].map((address) => ({
    address,
    ...(tls && { tls }),
  }))
  return {
    listeners,
    upstream,
    tenantUpstreams: settings['gateway.tenantUpstreams'],
    unknownTenant: settings['gateway.unknownTenant'],
    tenantHeader: settings['gateway.tenantHeader'],
    passCredentialThrough: settings['gateway.passCredentialThrough'],
    extraPaths: settings['gateway.extraPaths'],
    credentialSources: settings['gateway.credentialSources'],
    allowedOrigins: settings['gateway.allowedOrigins'],
    maxBodyBytes: settings['gateway.maxBodyBytes'],
    inspectInflatedSize: settings['gateway.inspectInflatedSize'],
    inFlightBytes: settings['gateway.inFlightBytes'],
    attributeResources: settings['gateway.attributeResources'],
    coalesce: settings['gateway.coalesce'] ? defaultGatewayConfig.coalesce : 'off',
    drainDelayMs: settings['gateway.drainDelayMs'],
    drainTimeoutMs: settings['gateway.drainTimeoutMs'],
    maxConnectionAgeMs: settings['gateway.maxConnectionAgeMs'],
    maxConnections: settings['gateway.maxConnections'],
    maxConnectionsPerAddress: settings['gateway.maxConnectionsPerAddress'],
    fastPath: settings['gateway.fastPath'],
    http1FastPath: settings['gateway.http1FastPath'],
    http2Reader: settings['gateway.http2Reader'],
    sharedReadBuffer: settings['gateway.sharedReadBuffer'],
    avoidedNodeInternals: settings['gateway.avoidedNodeInternals'],
    maxStaleMs: settings['gateway.maxStaleMs'] ?? defaultMaxStaleMs(settings),
    healthOnOtlpPorts: settings['gateway.healthOnOtlpPorts'],
    ownTelemetryUrl: settings['gateway.ownTelemetryUrl'],
    logAccepted: settings['gateway.logAccepted'],
    warnOfExpiry: settings['gateway.warnOfExpiry'],
    expiryWebhookUrl: settings['gateway.expiryWebhookUrl'],
  }
}

const defaultMaxStaleMs = (settings: Settings): number =>
  settings['gateway.databaseUrl'] === undefined ? defaultGatewayConfig.maxStaleMs : POSTGRES_MAX_STALE_MS

/**
 * The settings that are valid only with `gateway.upstream`. They do not apply to the embedded store, which has a
 * credential of its own, and another store cannot show its data.
 */
const upstreamSettings = [
  'gateway.upstreamAuthorization',
  'gateway.upstreamAuthorizationFile',
  'gateway.upstreamCaFile',
  'gateway.upstreamBodyLimitBytes',
  'observe.url',
] as const

/**
 * Returns the configured upstream; `undefined` if none is set.
 *
 * @throws {UsageError} for settings that contradict each other
 */
export function configuredUpstream(settings: Settings): UpstreamConfig | undefined {
  if (settings['observe.createViews'] && settings['observe.url'] === undefined) {
    throw new UsageError('observe.createViews needs observe.url, which is not set')
  }
  const url = settings['gateway.upstream']
  if (url === undefined) {
    const misplaced = upstreamSettings.find((name) => settings[name] !== undefined)
    if (misplaced !== undefined) throw new UsageError(`${misplaced} needs gateway.upstream, which is not set`)
    return undefined
  }
  const header = settings['gateway.upstreamAuthorization']
  const file = settings['gateway.upstreamAuthorizationFile']
  if (header !== undefined && file !== undefined) {
    throw new UsageError('gateway.upstreamAuthorization and gateway.upstreamAuthorizationFile cannot be combined')
  }
  const caFile = settings['gateway.upstreamCaFile']
  const bodyLimitBytes = settings['gateway.upstreamBodyLimitBytes']
  return {
    url,
    ...(header !== undefined && { credential: { header } }),
    ...(file !== undefined && { credential: { file } }),
    ...(caFile !== undefined && { caFile }),
    ...(bodyLimitBytes !== undefined && { bodyLimitBytes }),
  }
}

function tlsFiles(settings: Settings): TlsFiles | undefined {
  const certFile = settings['gateway.tlsCertFile']
  const keyFile = settings['gateway.tlsKeyFile']
  const clientCaFile = settings['gateway.tlsClientCaFile']
  if (certFile === undefined && keyFile === undefined && clientCaFile === undefined) return undefined
  if (certFile === undefined || keyFile === undefined) {
    throw new UsageError('gateway.tlsCertFile and gateway.tlsKeyFile must be set together')
  }
  return { certFile, keyFile, ...(clientCaFile !== undefined && { clientCaFile }) }
}
