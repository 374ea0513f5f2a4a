import { randomBytes } from 'node:crypto'
import {
  type GatewayConfig,
  type GatewayDb,
  type IngestPlane,
  type OnMode,
  type OpenPlane,
  openForPolling,
  openIngestPlane,
  type PlaneRecord,
  type UpstreamConfig,
  writePlaneFile,
} from '@penstock/gateway'
import type { Log } from '@penstock/runtime'
import type { Environment } from '../process/environment.ts'
import { configuredUpstream, gatewayConfig } from '../settings/gateway-settings.ts'
import type { Settings } from '../settings/setting-table.ts'
import { type EmbeddedUpstream, openEmbeddedUpstream } from './embedded-upstream.ts'
import { type GatewayStore, openDatabaseOf, openStore } from './operator.ts'
import { Workers } from './workers.ts'

type ClockAndRandom = Pick<Environment, 'clock' | 'random'>

/** Functions that close resources; the last one added runs first. */
export type Teardown = (() => Promise<void>)[]

/** The ingest side of the gateway, in this process or in its workers. */
export interface Ingest {
  readonly config: GatewayConfig
  /** The embedded store, if no upstream is set. */
  readonly embedded: EmbeddedUpstream | undefined
  /**
   * The plane of this process. If there are workers, it receives no telemetry and only decides for forward-auth proxies.
   */
  readonly mainPlane: OpenPlane
  readonly workers: Workers | undefined
  /** Returns the planes of this process and of all running workers. */
  planes(): IngestPlane[]
}

/**
 * Starts the ingest side.
 * @throws {UsageError} for settings that contradict each other; `WorkerFailed`, or the system's error for an address
 */
export async function openIngest(
  { settings, workers: count }: { readonly settings: Settings; readonly workers: number },
  {
    configured,
    peppers,
    plane,
  }: Pick<GatewayStore, 'peppers' | 'plane'> & { readonly configured: UpstreamConfig | undefined },
  environment: ClockAndRandom,
  log: Log,
  teardown: Teardown,
): Promise<Ingest> {
  const { clock } = environment
  const embedded = configured === undefined ? await openEmbeddedUpstream(settings, environment, log) : undefined
  if (embedded !== undefined) teardown.push(() => embedded.close())
  const upstream = configured ?? embedded!.upstream
  const config = gatewayConfig(settings, upstream)

  const env = workerVariables(upstream, settings)
  const { drainTimeoutMs } = config
  const workers = count > 1 ? await Workers.start({ count, env, drainTimeoutMs, clock, log }) : undefined
  if (workers !== undefined) teardown.push(() => workers.drain(0))

  const mainPlane = await openPlane(
    workers === undefined ? config : { ...config, listeners: [] },
    { settings, peppers, plane },
    environment,
    log,
    teardown,
  )
  return { config, embedded, mainPlane, workers, planes: () => [mainPlane, ...(workers?.planes ?? [])] }
}

/** Opens a plane of this process beside the management listener. */
export async function openPlane(
  config: GatewayConfig,
  { settings, peppers, plane: recorded }: Pick<GatewayStore, 'peppers' | 'plane'> & { readonly settings: Settings },
  { clock, random }: ClockAndRandom,
  log: Log,
  teardown: Teardown,
): Promise<OpenPlane> {
  // A plane writes only statistics, so no request needs to wait for the disk.
  const statistics = await openDatabaseOf(settings, 'process-loss')
  teardown.push(() => statistics.close())
  const polled = handleForPolls(settings, statistics, teardown)
  const onMode = modeRecorder(settings.dataDir, recorded, log)
  const plane = await openIngestPlane(config, { db: statistics, polled, peppers, clock, random, log, onMode })
  teardown.push(() => plane.close())
  return plane
}

/** Returns a function that keeps the mode in plane.json up to date. While the file cannot be written, each call tries again. */
function modeRecorder(dataDir: string, first: PlaneRecord, log: Log): OnMode {
  let recorded = first
  let isFailing = false
  return async (mode, epoch) => {
    if (mode === recorded.mode) return
    const next = { ...recorded, mode, epoch }
    try {
      await writePlaneFile(dataDir, next, randomBytes)
      recorded = next
      isFailing = false
    } catch (err) {
      if (isFailing) return
      isFailing = true
      log.error({ event: 'plane.unrecorded', err }, 'the mode of enforcement could not be written to plane.json')
    }
  }
}

/** Opens the plane of a worker. The embedded store runs in the primary; a worker uses it like any other upstream. */
export async function openWorkerPlane(
  settings: Settings,
  { clock: hostClock, random }: ClockAndRandom,
  log: Log,
  teardown: Teardown,
): Promise<OpenPlane> {
  const store = await openStore(settings, { clock: hostClock, log }, { survives: 'process-loss' })
  const { db, peppers, clock, close } = store
  teardown.push(close)
  const polled = handleForPolls(settings, db, teardown)
  const config = gatewayConfig(settings, configuredUpstream(settings)!)
  const plane = await openIngestPlane(config, { db, polled, peppers, clock, random, log })
  teardown.push(() => plane.close())
  return plane
}

/** Opens the handle with which a plane polls. On SQLite, which does not lose connections, it is that for everything else. */
function handleForPolls({ 'gateway.databaseUrl': url }: Settings, db: GatewayDb, teardown: Teardown): GatewayDb {
  if (url === undefined) return db
  const polled = openForPolling(url)
  teardown.push(() => polled.close())
  return polled
}

/** Returns the environment variables that give workers the address and credential of the primary's embedded store. */
function workerVariables(upstream: UpstreamConfig, settings: Settings): Record<string, string> {
  if (settings['gateway.upstream'] !== undefined || upstream.credential === undefined) return {}
  const { credential } = upstream
  return {
    PENSTOCK_UPSTREAM: upstream.url,
    ...('header' in credential && { PENSTOCK_UPSTREAM_AUTHORIZATION: credential.header }),
  }
}
