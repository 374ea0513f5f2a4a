import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { PRODUCT_VERSION } from '@penstock/converter'
import {
  createToken,
  ensureFirstAdminKey,
  openGatewayStore,
  openIngestPlane,
  openManagement,
  propagate,
  type UpstreamConfig,
} from '@penstock/gateway'
import { jsonLog, type Log } from '@penstock/runtime'
import { type ServedCore, serveCore } from '../core/serve-core.ts'
import { type Environment, exitCodes, Interrupted } from '../environment.ts'
import { exportConfig, gatewayUrl } from '../exporting/export-config.ts'
import { write } from '../output.ts'
import { makeSamples, pendingSamples } from '../samples/sample-workspace.ts'
import { banner } from './banner.ts'
import { openEmbeddedUpstream } from './embedded-upstream.ts'
import { judgeByAgeAlone } from './engine.ts'
import { configuredUpstream, gatewayConfig } from './gateway-settings.ts'
import { openStore, operatorContext, STORE_FILE } from './operator.ts'
import type { Settings } from './setting-table.ts'
import { startErrorOf } from './start-error.ts'
import { untilAborted } from './until-aborted.ts'
import { isWorker, Workers, workUntilReleased } from './workers.ts'

export interface ServeOptions {
  readonly settings: Settings
  /** Processes that take telemetry in. 1: this one. */
  readonly workers: number
  readonly isSampled: boolean
  /** The core beside it, in this process. */
  readonly withCore: boolean
}

const sampleToken = {
  name: 'sample workspace',
  description: 'With it the exporter sends the sample pipelines; it is a CI/CD variable of their group.',
  signals: ['traces', 'metrics', 'logs'],
}

/** Runs in the order in which they were added, last first. */
type Teardown = (() => Promise<void>)[]

/**
 * Serves until `environment.signal` aborts, then ends in order.
 *
 * @throws {UsageError} for settings that cannot work and addresses that cannot be had; nothing listens then
 */
export async function serve(options: ServeOptions, environment: Environment): Promise<number> {
  const log = jsonLog(environment.stderr, () => environment.clock.nowMs())
  const teardown: Teardown = []
  judgeByAgeAlone()
  try {
    if (isWorker()) {
      await workUntilReleased(
        () => openPlane(options.settings, environment, log, teardown),
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
  { settings, workers: workerCount, isSampled, withCore }: ServeOptions,
  environment: Environment,
  log: Log,
  teardown: Teardown,
): Promise<void> {
  const { clock, random, signal, stdout } = environment
  const exports = withCore ? exportConfig(settings) : undefined
  const isNew = !existsSync(join(settings.dataDir, STORE_FILE))
  const { db, peppers, close } = await openStore(settings)
  teardown.push(close)
  const configured = configuredUpstream(settings)
  // Samples are for trying things out: into nobody's backend.
  const isForSamples = isSampled && configured === undefined && exports !== undefined && exports.endpoint === undefined
  const samplesBegunMs = isForSamples ? pendingSamples(settings.dataDir, isNew, clock.nowMs()) : undefined
  const embedded = configured === undefined ? await openEmbeddedUpstream(settings, environment, log) : undefined
  if (embedded !== undefined) teardown.push(() => embedded.close())
  const config = gatewayConfig(settings, configured ?? embedded!.upstream)

  const workers =
    workerCount > 1
      ? await Workers.start({
          count: workerCount,
          env: workerVariables(config.upstream, settings),
          drainTimeoutMs: config.drainTimeoutMs,
          clock,
          log,
        })
      : undefined
  if (workers !== undefined) teardown.push(() => workers.drain(0))
  // What a plane writes is statistics: no request shall wait for the disk because of them.
  const statistics = await openGatewayStore(join(settings.dataDir, STORE_FILE), 'process-loss')
  teardown.push(() => statistics.close())
  // Beside workers, this process takes no telemetry in; it only judges for other proxies.
  const judge = await openIngestPlane(workers === undefined ? config : { ...config, listeners: [] }, {
    db: statistics,
    peppers,
    clock,
    random,
    log,
  })
  teardown.push(() => judge.close())

  const planes = () => [judge, ...(workers?.planes ?? [])]
  let core: ServedCore | undefined
  const management = await openManagement({
    config,
    address: settings['observability.listen'],
    version: PRODUCT_VERSION,
    rules: { tokenLimit: settings['gateway.tokenLimit'], uniqueNames: settings['gateway.uniqueTokenNames'] },
    forwardAuthProxies: settings['gateway.forwardAuthProxies'],
    judge,
    planes,
    routes: embedded?.routes ?? [],
    moreMetrics: () => core?.exporting.metrics() ?? '',
    db,
    peppers,
    clock,
    random,
    randomBytes,
    log,
  })
  teardown.push(() => management.close())
  if (exports !== undefined) {
    const ownGateway = gatewayUrl(settings, judge.addresses[0])
    core = await serveCore(settings, environment, log, { config: exports, ownGateway })
    teardown.push(() => core!.close(config.drainTimeoutMs))
  }
  // Not before everything listens: a start that fails must not make a key that nobody gets to see.
  const firstKey = await ensureFirstAdminKey(db, peppers, {
    given: settings.obsApiKey,
    nowMs: clock.nowMs(),
    randomBytes,
  })

  const gatewayUrls = (workers === undefined ? judge.addresses : config.listeners.map(({ address }) => address)).map(
    ({ host, port }) => `${host.includes(':') ? `[${host}]` : host}:${port}`,
  )
  const samples =
    core === undefined || samplesBegunMs === undefined
      ? undefined
      : await makeSamples({
          dataDir: settings.dataDir,
          begunMs: samplesBegunMs,
          core: core.core,
          newIngestToken: async () => {
            const applied = () => propagate({ db, clock, log, planes })
            const { token } = await createToken(operatorContext({ db, peppers }, settings, clock, applied), sampleToken)
            return token
          },
          log,
        })
  await write(
    stdout,
    banner({
      managementUrl: management.url,
      gatewayUrls,
      embedded: embedded !== undefined,
      firstKey,
      samples,
      core,
    }),
  )

  await untilAborted(signal)
  const delayMs =
    signal.reason instanceof Interrupted && signal.reason.by === 'SIGINT' ? 0 : settings['gateway.drainDelayMs']
  log.info({ event: 'drain.started', delay_ms: delayMs }, 'draining')
  await Promise.all([judge.drain(delayMs), workers?.drain(delayMs), core?.exporting.end()])
  log.info({ event: 'drain.ended' }, 'drained')
}

async function openPlane(settings: Settings, { clock, random }: Environment, log: Log, teardown: Teardown) {
  const { db, peppers, close } = await openStore(settings, 'process-loss')
  teardown.push(close)
  const config = gatewayConfig(settings, configuredUpstream(settings)!)
  const plane = await openIngestPlane(config, { db, peppers, clock, random, log })
  teardown.push(() => plane.close())
  return plane
}

/** The embedded store lives in the primary; workers reach it as any upstream. */
function workerVariables(upstream: UpstreamConfig, settings: Settings): Record<string, string> {
  if (settings['gateway.upstream'] !== undefined || upstream.credential === undefined) return {}
  const { credential } = upstream
  return {
    PENSTOCK_UPSTREAM: upstream.url,
    ...('header' in credential && { PENSTOCK_UPSTREAM_AUTHORIZATION: credential.header }),
  }
}
