import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { createToken, openManagement, propagate } from '@penstock/gateway'
import { jsonLog, type Log } from '@penstock/runtime'
import { type Environment, exitCodes } from '../process/environment.ts'
import { write } from '../process/output.ts'
import { WritableDirectory } from '../process/writable-directory.ts'
import { makeSamples, pendingSamples } from '../samples/sample-workspace.ts'
import { exportConfig, gatewayUrl } from '../settings/export-config.ts'
import { configuredUpstream } from '../settings/gateway-settings.ts'
import type { Settings } from '../settings/setting-table.ts'
import { banner, type Started } from './banner.ts'
import { consoleAddress } from './console-address.ts'
import { drainDelayMs } from './drain-delay.ts'
import { firstAccess } from './first-access.ts'
import { managementSettings, namedCoreUrl, otlpAddress } from './management-settings.ts'
import { openClickHouse } from './open-click-house.ts'
import { type Ingest, openIngest, openWorkerPlane, type Teardown } from './open-ingest.ts'
import { openStore, operatorContext, STORE_FILE } from './operator.ts'
import { operatorCommands } from './operator-command.ts'
import { type ServedCore, serveCore } from './serve-core.ts'
import { startErrorOf } from './start-error.ts'
import { storeRoutes } from './store-routes.ts'
import { untilAborted } from './until-aborted.ts'
import { disablePretenuring } from './v8-flags.ts'
import { isWorker, workUntilReleased } from './workers.ts'

export interface ServeOptions {
  readonly settings: Settings
  /** The number of processes that receive telemetry. 1: only this one. */
  readonly workers: number
  readonly isSampled: boolean
  /** Whether this process serves the core too. */
  readonly withCore: boolean
  /** Whether empty stores may replace those that the data directory was used with. */
  readonly acceptsNewStore: boolean
}

const sampleToken = {
  name: 'sample workspace',
  description: 'The exporter sends the sample pipelines with it; it is a CI/CD variable of their group.',
  signals: ['traces', 'metrics', 'logs'],
}

/**
 * Serves until `environment.signal` aborts, then shuts down in order.
 *
 * @throws {UsageError} for invalid settings and addresses that cannot be bound; nothing listens then
 */
export async function serve(options: ServeOptions, environment: Environment): Promise<number> {
  const log = jsonLog(environment.stderr, () => environment.clock.nowMs())
  const teardown: Teardown = []
  disablePretenuring()
  try {
    if (isWorker()) {
      await workUntilReleased(
        () => openWorkerPlane(options.settings, environment, log, teardown),
        (error) => (startErrorOf(error, options.settings) ?? error).message,
      )
    } else {
      await serveUntilInterrupted(options, environment, log, teardown)
    }
    return exitCodes.ok
  } catch (error) {
    throw startErrorOf(error, options.settings) ?? error
  } finally {
    for (const end of teardown.toReversed()) await end()
  }
}

async function serveUntilInterrupted(
  options: ServeOptions,
  environment: Environment,
  log: Log,
  teardown: Teardown,
): Promise<void> {
  const { settings, withCore, acceptsNewStore } = options
  const { random, signal, stdout } = environment
  const exports = withCore ? exportConfig(settings) : undefined
  // A database on another machine says nothing about the data directory.
  const isNew = settings['gateway.databaseUrl'] === undefined && !existsSync(join(settings.dataDir, STORE_FILE))
  const { db, peppers, plane, clock, close } = await openStore(
    settings,
    { clock: environment.clock, log },
    { acceptsNewStore },
  )
  teardown.push(close)
  const configured = configuredUpstream(settings)
  // Samples are only for trying things out, so they are never sent to a configured backend.
  const isForSamples =
    options.isSampled && configured === undefined && exports !== undefined && exports.endpoint === undefined
  const samplesBegunMs = isForSamples ? pendingSamples(settings.dataDir, isNew, clock.nowMs()) : undefined

  const ingest = await openIngest(options, { configured, peppers, plane }, { clock, random }, log, teardown)
  const clickHouse = await openClickHouse(settings, { clock, log }, teardown)
  const directory = new WritableDirectory(settings.dataDir, clock)
  let core: ServedCore | undefined
  let isStarted = false
  const management = await openManagement({
    ...managementSettings(settings, { clock, random }, log),
    config: ingest.config,
    forwardAuthPlane: ingest.mainPlane,
    planes: ingest.planes,
    isStarted: () => isStarted,
    problem: async () => {
      const reason = await directory.problem()
      return reason && `the data directory cannot be written to: ${reason}`
    },
    announcesExpiries: true,
    isStoreConnected: ingest.embedded !== undefined || clickHouse !== undefined,
    otlp: otlpAddress(settings, boundAddresses(ingest)[0]!),
    coreUrl: () => core?.url ?? namedCoreUrl(settings),
    // ClickHouse has no order of arrival, so there are no live updates.
    routes: ingest.embedded?.routes ?? (clickHouse === undefined ? [] : storeRoutes(clickHouse, undefined)),
    extraMetrics: () => core?.exporting.metrics() ?? '',
    db,
    peppers,
  })
  teardown.push(() => {
    ingest.embedded?.endStreams()
    return management.close()
  })
  if (exports !== undefined) {
    const ownGateway = gatewayUrl(settings, ingest.mainPlane.addresses[0])
    core = await serveCore(settings, environment, log, { config: exports, ownGateway, acceptsNewStore })
    teardown.push(() => core!.close(ingest.config.drainTimeoutMs))
  }
  // The thread of the store starts while this one opens everything else.
  await ingest.embedded?.opened
  const access = await firstAccess({ db, peppers }, { settings, isForPerson: options.isSampled }, clock)
  isStarted = true

  const newIngestToken = async () => {
    const applied = () => propagate({ db, clock, log, planes: ingest.planes })
    const { token } = await createToken(operatorContext({ db, peppers }, settings, clock, applied), sampleToken)
    return token
  }
  const samples =
    core === undefined || samplesBegunMs === undefined
      ? undefined
      : await makeSamples({
          dataDir: settings.dataDir,
          begunMs: samplesBegunMs,
          core: core.core,
          hasEarlierRuns: true,
          newIngestToken,
          log,
          signal,
        })
  teardown.push(async () => samples?.completed)
  const started: Started = {
    consoleUrl: consoleAddress(settings, management),
    ...access,
    managementUrl: management.url,
    commands: operatorCommands(settings, management, environment.installation.kind),
    gatewayUrls: gatewayUrls(ingest),
    embedded: ingest.embedded !== undefined,
    samples,
    core,
  }
  await write(stdout, banner(started))

  await untilAborted(signal)
  await samples?.completed
  await drain(ingest, core, drainDelayMs(settings, signal), log)
}

const boundAddresses = ({ config, mainPlane, workers }: Ingest) =>
  workers === undefined ? mainPlane.addresses : config.listeners.map(({ address }) => address)

function gatewayUrls(ingest: Ingest): string[] {
  return boundAddresses(ingest).map(({ host, port }) => `${host.includes(':') ? `[${host}]` : host}:${port}`)
}

async function drain(
  { mainPlane, workers, embedded }: Ingest,
  core: ServedCore | undefined,
  delayMs: number,
  log: Log,
): Promise<void> {
  log.info({ event: 'drain.started', delay_ms: delayMs }, 'draining')
  embedded?.endStreams()
  await Promise.all([mainPlane.drain(delayMs), workers?.drain(delayMs), core?.exporting.end()])
  log.info({ event: 'drain.ended' }, 'drained')
}
