import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { isUnavailable } from '@penstock/db'
import { type Clock, type Log, type Random, RepeatingTask } from '@penstock/runtime'
import { AdmissionController } from '../admission/admission-controller.ts'
import { Gate } from '../admission/gate.ts'
import { routeOf } from '../attribution/tenant-route.ts'
import { attributionHeaders } from '../attribution/trusted-headers.ts'
import { Coalescer } from '../coalesce/coalescer.ts'
import type { Admitted } from '../contract/admission.ts'
import type { GatewayConfig, ListenAddress } from '../contract/gateway-config.ts'
import type { IngestSignal } from '../contract/signals.ts'
import type { EnforcementMode } from '../contract/snapshot.ts'
import type { Transport } from '../contract/transport.ts'
import { ClientSketch } from '../enforcement/client-sketch.ts'
import { WarningMemory } from '../enforcement/warning-memory.ts'
import { WrongPaths } from '../enforcement/wrong-paths.ts'
import { GrpcFront } from '../grpc/grpc-front.ts'
import { GrpcHealth } from '../grpc/grpc-health.ts'
import { HeadReader } from '../http/http-headers.ts'
import { httpFront } from '../ingest/http-front.ts'
import { defaultListenerSettings, type Listener, openListener } from '../ingest/listener.ts'
import { InFlightBudget } from '../limits/in-flight-budget.ts'
import { Limiter } from '../limits/limiter.ts'
import { haveQuota } from '../limits/token-limit-state.ts'
import { AccessLog } from '../metrics/access-log.ts'
import { exportObserver } from '../metrics/export-observer.ts'
import { GateMetrics } from '../metrics/gate-metrics.ts'
import { registerSnapshotGauges } from '../metrics/snapshot-gauges.ts'
import { avoidNodeInternals } from '../node-internals/avoided.ts'
import type { Peppers } from '../secrets/pepper.ts'
import { listLiveInstances } from '../store/instances.ts'
import type { GatewayDb } from '../store/tables.ts'
import { Authenticator } from '../tokens/authenticator.ts'
import { recordUse, usageOfDay, usageSince } from '../tokens/usage-store.ts'
import { openUpstreams } from '../upstream/open-upstreams.ts'
import type { IngestPlane, PlaneReport } from './ingest-plane.ts'
import { type OnMode, SnapshotWatch } from './snapshot-watch.ts'

interface PlaneDeps {
  readonly db: GatewayDb
  /** The same store, with short limits on the wait for an answer. @see openForPolling */
  readonly polled: GatewayDb
  readonly peppers: Peppers
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  /** Called with the first mode of enforcement and whenever it changes. */
  readonly onMode?: OnMode
}

export interface OpenPlane extends IngestPlane {
  /** The bound addresses, including the ports. */
  readonly addresses: readonly ListenAddress[]
  readonly instanceId: string
  readonly admissionController: AdmissionController
  /** `undefined` until the tokens have been read. */
  readonly mode: EnforcementMode | undefined
  /** Counts the use of a request that was admitted for another proxy. */
  forwardAuthUsed(admitted: Admitted, signal: IngestSignal, bytes: number): void
  /** Ends immediately, including requests in flight. After `drain` none are left. */
  close(): Promise<void>
}

/**
 * The id prefix of processes that share the limits. A process that only checks requests for other proxies has another
 * prefix.
 */
const GATE_ID_PREFIX = 'gate-'
/** The intervals at which usage is stored and exchanged (T-17), and the limits are divided among the processes. */
const USAGE_INTERVAL_MS = 10_000
const SHARE_INTERVAL_MS = 5_000
const DAY_MS = 86_400_000

/**
 * Opens the ports and forwards telemetry. The ports open only after the tokens have been read (E-10). Without listeners, the plane only
 * decides for forward-auth proxies, and opens no upstream.
 *
 * Rejects with the system's error if an address cannot be bound. Then nothing stays open.
 */
export async function openIngestPlane(config: GatewayConfig, deps: PlaneDeps): Promise<OpenPlane> {
  const plane = new Plane(config, deps)
  try {
    await plane.open()
    return plane
  } catch (error) {
    await plane.close()
    throw error
  }
}

class Plane implements OpenPlane {
  readonly instanceId: string
  readonly admissionController: AdmissionController
  readonly #config: GatewayConfig
  readonly #deps: PlaneDeps
  readonly #watch: SnapshotWatch
  readonly #metrics = new GateMetrics()
  readonly #clientStats: ClientSketch
  readonly #wrongPaths = new WrongPaths()
  readonly #limiter = new Limiter()
  readonly #budget: InFlightBudget
  readonly #accessLog: AccessLog
  readonly #health = new GrpcHealth(true)
  readonly #listeners: Listener[] = []
  readonly #closers: (() => Promise<void>)[] = []
  #gate: Gate | undefined
  #state: PlaneReport['state'] = 'starting'
  #startedMs = 0

  constructor(config: GatewayConfig, deps: PlaneDeps) {
    const { polled, peppers, clock, random, log, onMode } = deps
    this.#config = config
    // The host tells operators of several gateways which one it is.
    this.instanceId = `${config.listeners.length > 0 ? GATE_ID_PREFIX : 'api-'}${hostname()}-${randomUUID()}`
    this.#deps = deps
    this.#watch = new SnapshotWatch({ db: polled, clock, random, log, instanceId: this.instanceId, onMode })
    this.#clientStats = new ClientSketch()
    this.#budget = new InFlightBudget(config.inFlightBytes, () => clock.monotonicMs())
    this.#accessLog = new AccessLog(log, { logAccepted: config.logAccepted, random })
    this.admissionController = new AdmissionController({
      clock,
      log,
      snapshot: () => this.#watch.current,
      authenticator: new Authenticator(peppers),
      rules: {
        maxStaleMs: config.maxStaleMs,
        warnOfExpiry: config.warnOfExpiry,
        warned: new WarningMemory(),
        monotonicMs: () => clock.monotonicMs(),
        random,
      },
      limiter: this.#limiter,
      clientStats: this.#clientStats,
      wrongPaths: this.#wrongPaths,
      metrics: this.#metrics,
      accessLog: this.#accessLog,
      route: (token) => routeOf(token, config),
    })
    registerSnapshotGauges(this.#metrics, () => this.#watch.current, clock)
  }

  get addresses(): readonly ListenAddress[] {
    return this.#listeners.map(({ address }) => address)
  }

  get mode(): EnforcementMode | undefined {
    return this.#watch.current?.mode
  }

  forwardAuthUsed({ token }: Admitted, signal: IngestSignal, bytes: number): void {
    if (token !== undefined) this.#metrics.tokenUsed(token, signal, bytes, this.#deps.clock.nowMs())
  }

  async open(): Promise<void> {
    const { db, clock } = this.#deps
    await this.#watch.refresh()
    await this.#shareLimits()
    this.#limiter.restore(await usageSince(db, clock.nowMs() - DAY_MS), clock.nowMs())
    this.#startRepeatingTasks()
    if (this.#config.listeners.length > 0) await this.#openListeners()
    this.#state = 'ready'
    this.#startedMs = clock.nowMs()
  }

  async #openListeners(): Promise<void> {
    const config = this.#config
    const { clock, random, log } = this.#deps
    const upstreams = await openUpstreams(config, { clock, random, log, metrics: this.#metrics.registry })
    this.#closers.push(() => upstreams.close())
    const gate = new Gate({
      clock,
      random,
      log,
      admissionController: this.admissionController,
      limiter: this.#limiter,
      budget: this.#budget,
      clientStats: this.#clientStats,
      metrics: this.#metrics,
      upstreamOf: ({ token }) => upstreams.at(routeOf(token, config)),
      trustedHeaders: (admitted) => attributionHeaders(admitted, config),
      attributesResources: config.attributeResources,
      timesCalls: this.#accessLog.logsAccepted,
      maxBodyBytes: config.maxBodyBytes,
      coalescer:
        config.coalesce === 'off'
          ? undefined
          : new Coalescer({
              settings: {
                ...config.coalesce,
                maxBodyBytes: Math.min(config.coalesce.maxBodyBytes, config.maxBodyBytes),
              },
              clock,
              random,
              metrics: this.#metrics.registry,
            }),
    })
    this.#gate = gate
    const metrics = this.#metrics.registry
    const observer = (transport: Transport) => exportObserver(transport, this.#metrics, this.#accessLog, clock)
    const fronts = {
      http: httpFront(
        config,
        {
          ingest: gate,
          clock,
          random,
          log,
          observer: observer('http'),
          isReady: () => this.#currentState() === 'ready',
        },
        defaultListenerSettings.idleBodyTimeoutMs,
      ),
      grpc: new GrpcFront(
        {
          ingest: gate,
          health: this.#health,
          clock,
          random,
          log,
          observer: observer('grpc'),
          headReader: new HeadReader(config),
        },
        {
          maxBodyBytes: config.maxBodyBytes,
          inspectInflatedSize: config.inspectInflatedSize,
          idleBodyTimeoutMs: defaultListenerSettings.idleBodyTimeoutMs,
        },
      ),
    }
    const { maxConnectionAgeMs, maxConnections, maxConnectionsPerAddress } = config
    const { fastPath, http1FastPath, http2Reader, sharedReadBuffer } = config
    const limits = { maxConnectionAgeMs, maxConnections, maxConnectionsPerAddress }
    const reading = { fastPath, http1FastPath, http2Reader, sharedReadBuffer }
    const listenerSettings = { ...defaultListenerSettings, ...limits, ...reading }
    avoidNodeInternals(config.avoidedNodeInternals)
    for (const listener of config.listeners) {
      this.#listeners.push(await openListener(listener, fronts, listenerSettings, { clock, random, log, metrics }))
    }
  }

  refresh(): Promise<void> {
    return this.#watch.refresh()
  }

  async report(): Promise<PlaneReport> {
    return {
      metrics: this.#metrics.report(),
      clientStats: this.#clientStats.report(),
      wrongPaths: this.#wrongPaths.report(),
      startedMs: this.#startedMs,
      state: this.#currentState(),
      isStoreFailing: this.#watch.isFailing,
    }
  }

  async drain(delayMs: number): Promise<void> {
    const { clock } = this.#deps
    this.#state = 'draining'
    this.#health.setServing(false)
    await clock.sleep(delayMs)
    this.#health.endWatches()
    await Promise.all(this.#listeners.map((listener) => listener.drain(this.#config.drainTimeoutMs)))
    await this.#gate?.idle()
    await this.close()
  }

  async close(): Promise<void> {
    await Promise.all(this.#listeners.splice(0).map((listener) => listener.close()))
    for (const close of this.#closers.splice(0).toReversed()) await close()
  }

  #currentState(): PlaneReport['state'] {
    const ageMs = this.#deps.clock.monotonicMs() - (this.#watch.current?.confirmedAtMs ?? Number.NEGATIVE_INFINITY)
    return this.#state === 'ready' && ageMs > this.#config.maxStaleMs ? 'stale' : this.#state
  }

  /** Starts the tasks that repeat independently of requests. */
  #startRepeatingTasks(): void {
    const { clock, log } = this.#deps
    const watching = this.#watch.run()
    const usage = new RepeatingTask('usage.unwritten', { everyMs: USAGE_INTERVAL_MS, clock, log }, () =>
      this.#duringOutageQuietly(async () => {
        await this.#recordUse()
        await this.#exchangeUse()
      }),
    )
    const shares = new RepeatingTask('limits.unshared', { everyMs: SHARE_INTERVAL_MS, clock, log }, async () => {
      this.#accessLog.sweep(clock.monotonicMs())
      await this.#duringOutageQuietly(() => this.#shareLimits())
    })
    this.#closers.push(async () => {
      await Promise.all([usage.end(), shares.end()])
      await this.#recordLastUse()
      await this.#watch.close()
      await watching
    })
  }

  /** Tries the work. While the store cannot be read, which has been logged once, its failures are not logged again and again. */
  async #duringOutageQuietly(work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (error) {
      if (!this.#watch.isFailing) throw error
    }
  }

  /** Divides the limits among the living processes. */
  async #shareLimits(): Promise<void> {
    const { db, clock } = this.#deps
    const live = await listLiveInstances(db, clock.nowMs())
    this.#limiter.setInstances(live.filter(({ id }) => id.startsWith(GATE_ID_PREFIX)).length)
  }

  async #recordUse(): Promise<void> {
    const rows = this.#metrics.tokens.take()
    if (rows.length === 0) return
    const { db, clock } = this.#deps
    try {
      await recordUse(db, rows)
    } catch (error) {
      this.#metrics.tokens.putBack(rows)
      throw error
    }
    const stored = rows.map(({ lastUsedAtMs, ...use }) => ({ ...use, atMs: lastUsedAtMs }))
    this.#limiter.addStored(stored, clock.nowMs())
  }

  /** Takes over what the other processes have used of the daily quotas. */
  async #exchangeUse(): Promise<void> {
    const { db, clock } = this.#deps
    const tokens = [...(this.#watch.current?.byId.values() ?? [])]
    const limited = tokens.filter(({ limits }) => limits !== undefined && haveQuota(limits)).map(({ id }) => id)
    if (limited.length === 0) return
    const used = await usageOfDay(db, limited, clock.nowMs())
    this.#limiter.exchange(limited, used, clock.nowMs())
  }

  /** Records the use since the last time. If the store is away, that use is lost: a process must end all the same. */
  async #recordLastUse(): Promise<void> {
    try {
      await this.#recordUse()
    } catch (error) {
      if (!isUnavailable(error)) throw error
      this.#deps.log.error({ event: 'usage.lost', err: error }, 'the last use of tokens could not be recorded')
    }
  }
}
