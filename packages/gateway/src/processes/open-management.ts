import { type ConnectionLimits, type Listening, listen, type Route, type ServedRoute, unguarded } from '@penstock/http'
import { type Clock, type Log, type Random, RepeatingTask, TrustedProxies } from '@penstock/runtime'
import { purgeAudit } from '../accounts/audit-log.ts'
import { type ConsoleFiles, serveConsole } from '../admin/console-routes.ts'
import { refusalForm } from '../admin/error-answers.ts'
import { forwardAuth } from '../admin/forward-auth.ts'
import { forwardAuthRoute } from '../admin/forward-auth-route.ts'
import { managementApp } from '../admin/management-app.ts'
import type { ManagementContext, ManagementDeps } from '../admin/management-context.ts'
import type { OtlpAddress } from '../admin/otlp-url.ts'
import type { GatewayConfig, ListenAddress } from '../contract/gateway-config.ts'
import type { ExpiryNotice } from '../enforcement/expiry-warnings.ts'
import { ExpiryWatch } from '../enforcement/expiry-watch.ts'
import { ExpiryWebhook } from '../enforcement/expiry-webhook.ts'
import { mergeClientStats } from '../enforcement/merge-client-stats.ts'
import { readinessReport } from '../enforcement/readiness.ts'
import { mergeWrongPaths } from '../enforcement/wrong-paths.ts'
import type { OwnTelemetrySettings } from '../metrics/own-telemetry.ts'
import { prometheusContentType, prometheusText } from '../metrics/prometheus-text.ts'
import { MetricRegistry, type MetricsReport } from '../metrics/registry.ts'
import type { ManagementRules } from '../operations/operation-context.ts'
import type { OperationName } from '../operations/roles.ts'
import type { Peppers } from '../secrets/pepper.ts'
import { purgeSessions } from '../sessions/session.ts'
import { listLiveInstances } from '../store/instances.ts'
import type { GatewayDb } from '../store/tables.ts'
import { purgeRevoked } from '../tokens/load-snapshot.ts'
import { listTokenSummaries } from '../tokens/token-summaries.ts'
import { purgeUsage } from '../tokens/usage-store.ts'
import type { IngestPlane, PlaneReport } from './ingest-plane.ts'
import type { OpenPlane } from './open-ingest-plane.ts'
import { PlaneReports } from './plane-reports.ts'
import { propagate } from './propagate.ts'

export interface ManagementOptions {
  readonly config: GatewayConfig
  readonly address: ListenAddress
  /** The version of the product. */
  readonly version: string
  readonly rules: ManagementRules
  /** Addresses and networks of the proxies that are trusted to set X-Forwarded-For. */
  readonly trustedProxies: readonly string[]
  /** Addresses and networks of the proxies that may send forward-auth requests. */
  readonly forwardAuthProxies: readonly string[]
  readonly connectionLimits: Pick<ConnectionLimits, 'maxConnections' | 'maxPerAddress'>
  /** The address that browsers use, if it is configured. */
  readonly externalUrl: string | undefined
  /** The `max-age` of Strict-Transport-Security, sent to browsers that use HTTPS. 0: never sent. */
  readonly strictTransportSeconds: number
  /** The plane in this process, which checks forward-auth requests. */
  readonly forwardAuthPlane: OpenPlane
  /** All planes that accept telemetry, including `forwardAuthPlane`. */
  readonly planes: () => readonly IngestPlane[]
  /** Returns whether the start is complete, with the first API key and the other parts of the service; until then it is not ready. */
  readonly isStarted?: () => boolean
  /** Returns the reason why the service cannot work although every process can, such as a full disk. */
  readonly problem?: () => Promise<string | undefined>
  /** Whether the gateway has a store of telemetry that it can query. */
  readonly isStoreConnected: boolean
  /**
   * Whether this process announces tokens that expire. Each notice is given once, by one of the processes on a database, so it must be one
   * that has the settings for it.
   */
  readonly announcesExpiries: boolean
  /** Where senders reach the OTLP ports. */
  readonly otlp: OtlpAddress
  /** Returns the address of the core, if this service knows one. */
  readonly coreUrl: () => string | undefined
  /** Additional routes that require an API key or a session. */
  readonly routes: readonly Route<ManagementContext, OperationName>[]
  readonly console: ConsoleFiles
  /** Returns additional metrics for `/metrics`, in the same format and under other names. */
  readonly extraMetrics?: () => string
  readonly db: GatewayDb
  readonly peppers: Peppers
  readonly clock: Clock
  readonly random: Random
  readonly randomBytes: (bytes: number) => Uint8Array
  readonly log: Log
}

const LIVE_PATH = '/livez'
const READY_PATH = '/readyz'
/** The interval at which data past its retention is deleted. */
const PURGE_MS = 3_600_000

/** Opens the management listener: API, forward-auth, `/metrics`, `/livez` and `/readyz`. Also starts the management tasks. */
export async function openManagement(options: ManagementOptions): Promise<Listening> {
  const { config, clock, db, log, planes, forwardAuthPlane, version, isStarted = () => true } = options
  const metrics = new MetricRegistry()
  const reports = new PlaneReports(planes, log)
  const metricsReports = async (): Promise<MetricsReport[]> => [metrics.report(), ...(await reports.metrics())]
  const deps: ManagementDeps = {
    db,
    peppers: options.peppers,
    nowMs: () => clock.nowMs(),
    monotonicMs: () => clock.monotonicMs(),
    randomBytes: options.randomBytes,
    rules: options.rules,
    propagate: () => propagate({ db, clock, log, metrics, planes }),
    log,
    externalUrl: options.externalUrl,
    strictTransportSeconds: options.strictTransportSeconds,
    isStoreConnected: options.isStoreConnected,
    otlp: options.otlp,
    coreUrl: options.coreUrl,
    trustedProxies: new TrustedProxies(options.trustedProxies),
    version,
    readiness: async (windowMs) => {
      const planeReports = await reports.all()
      const clientStats = mergeClientStats(planeReports.map((report) => report.clientStats))
      const wrongPaths = mergeWrongPaths(planeReports.map((report) => report.wrongPaths))
      const startedMs = Math.max(...planeReports.map((report) => report.startedMs))
      const nowMs = clock.nowMs()
      const live = await listLiveInstances(db, nowMs)
      return {
        ...readinessReport({ ...clientStats, wrongPaths }, await listTokenSummaries(db), windowMs, nowMs, startedMs),
        processes: { reported: planeReports.length, live: live.length },
      }
    },
  }
  const site = await serveConsole(options.console)
  const extraRoutes: ServedRoute[] = [
    ...unguarded([
      forwardAuthRoute(
        forwardAuth({
          ...config,
          admit: (presented) => forwardAuthPlane.admissionController.admit(presented),
          recordWrongPath: (request) => forwardAuthPlane.admissionController.recordWrongPath(request),
          mode: () => forwardAuthPlane.mode,
          proxies: options.forwardAuthProxies,
          onAdmitted: (admitted, signal, bytes) => forwardAuthPlane.forwardAuthUsed(admitted, signal, bytes),
          monotonicMs: () => clock.monotonicMs(),
          random: options.random,
          log,
        }),
      ),
      textRoute(LIVE_PATH, async () => ({ status: 200, content: 'ok\n' })),
      textRoute(READY_PATH, async () =>
        isStarted()
          ? readinessReply(await reports.all(), planes().length, await options.problem?.())
          : { status: 503, content: 'not ready: starting\n' },
      ),
      textRoute(
        '/metrics',
        async () => ({
          status: 200,
          content: prometheusText(await metricsReports()) + (options.extraMetrics?.() ?? ''),
        }),
        prometheusContentType,
      ),
      ...site.routes,
    ]),
  ]
  const proxies = new TrustedProxies([...options.trustedProxies, ...options.forwardAuthProxies])
  const listening = await listen(managementApp(deps, extraRoutes, options.routes, site.notFoundPage), options.address, {
    limits: options.connectionLimits,
    isExempt: (address) => proxies.has(address),
    probePaths: [LIVE_PATH, READY_PATH],
    refusalForm,
    log,
  })
  const telemetry =
    config.ownTelemetryUrl === undefined
      ? undefined
      : await pushOwnMetrics({
          url: config.ownTelemetryUrl,
          listeners:
            forwardAuthPlane.addresses.length > 0
              ? forwardAuthPlane.addresses
              : config.listeners.map(({ address }) => address),
          version,
          instanceId: forwardAuthPlane.instanceId,
          startMs: clock.nowMs(),
          nowMs: () => clock.nowMs(),
          reports: metricsReports,
          log,
        }).catch(async (error) => {
          await listening.close()
          throw error
        })
  const closeExpiries = options.announcesExpiries ? watchExpiries(options) : undefined
  const purging = new RepeatingTask('purge.failed', { everyMs: PURGE_MS, clock, log }, async () => {
    const nowMs = clock.nowMs()
    await purgeRevoked(db, nowMs)
    await purgeUsage(db, nowMs)
    await purgeAudit(db, nowMs)
    await purgeSessions(db, nowMs)
  })
  return {
    ...listening,
    close: async (giveUp) => {
      await Promise.all([closeExpiries?.(), purging.end(), telemetry?.close()])
      await listening.close(giveUp)
    },
  }
}

/** Announces tokens that expire in the log, and to the webhook if it is set. Returns a function that ends it. */
function watchExpiries({ config, db, clock, log }: ManagementOptions): () => Promise<void> {
  const url = config.expiryWebhookUrl
  const webhook = url === undefined ? undefined : new ExpiryWebhook({ url, clock, log })
  const onNotice = webhook && { onNotice: async (notice: ExpiryNotice) => webhook.post(notice) }
  const expiries = new ExpiryWatch({ db, clock, log, ...onNotice })
  return async () => {
    await expiries.close()
    await webhook?.close()
  }
}

function textRoute(
  path: string,
  answer: () => Promise<{ readonly status: number; readonly content: string }>,
  contentType = 'text/plain; charset=utf-8',
): Route<undefined, unknown> {
  return { method: 'GET', path, access: undefined, handle: async () => ({ ...(await answer()), contentType }) }
}

/**
 * Answers ready if every process has read its tokens and is not draining. Whether the upstream answers is not
 * checked. A store that cannot be used is mentioned, and makes a process unready only when it can no longer work from
 * memory (T-14).
 */
function readinessReply(
  reports: readonly PlaneReport[],
  expected: number,
  problem: string | undefined,
): { status: number; content: string } {
  const isMissing = reports.length < expected
  const unready = isMissing ? 'a process does not answer' : reports.find(({ state }) => state !== 'ready')?.state
  const state = unready ?? problem
  if (state !== undefined) return { status: 503, content: `not ready: ${state}\n` }
  const isStoreFailing = reports.some((report) => report.isStoreFailing)
  const content = isStoreFailing ? 'ready, from memory: the token store cannot be used\n' : 'ready\n'
  return { status: 200, content }
}

/** Loads the SDK of OpenTelemetry only if it is used, because it takes much memory. */
async function pushOwnMetrics(settings: OwnTelemetrySettings) {
  const { startOwnTelemetry } = await import('../metrics/own-telemetry.ts')
  return startOwnTelemetry(settings)
}
