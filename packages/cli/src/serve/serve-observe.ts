import { openManagement } from '@penstock/gateway'
import { jsonLog, type Log } from '@penstock/runtime'
import { type Environment, exitCodes, UsageError } from '../process/environment.ts'
import { write } from '../process/output.ts'
import { gatewayConfig } from '../settings/gateway-settings.ts'
import { type Settings, settingTable } from '../settings/setting-table.ts'
import { banner } from './banner.ts'
import { consoleAddress } from './console-address.ts'
import { drainDelayMs } from './drain-delay.ts'
import { firstAccess } from './first-access.ts'
import { managementSettings, namedCoreUrl, otlpAddress } from './management-settings.ts'
import { openClickHouse } from './open-click-house.ts'
import { openPlane, type Teardown } from './open-ingest.ts'
import { openStore } from './operator.ts'
import { operatorCommands } from './operator-command.ts'
import { startErrorOf } from './start-error.ts'
import { storeRoutes } from './store-routes.ts'
import { untilAborted } from './until-aborted.ts'

/**
 * Serves only the management listener of gateways on other hosts until `environment.signal` aborts, then shuts down in order: the console,
 * queries that ClickHouse answers, and the API on the database that the gateways share.
 *
 * @throws {UsageError} for invalid settings, for an address that cannot be bound, and without ClickHouse or a shared database
 */
export async function serveObserve(
  settings: Settings,
  environment: Environment,
  acceptsNewStore: boolean,
): Promise<number> {
  const log = jsonLog(environment.stderr, () => environment.clock.nowMs())
  const teardown: Teardown = []
  try {
    requireSharedStores(settings)
    await serveUntilInterrupted(settings, environment, { acceptsNewStore, log }, teardown)
    return exitCodes.ok
  } catch (error) {
    throw startErrorOf(error, settings) ?? error
  } finally {
    for (const end of teardown.toReversed()) await end()
  }
}

/** The settings without which this process would have nothing to show, or would serve a database that no gateway reads. */
const sharedStores = {
  'observe.url': 'the ClickHouse database to query; an embedded store belongs to the process that writes it',
  'gateway.databaseUrl': 'the PostgreSQL database of the gateways; gateway.db belongs to the gateways on its machine',
} as const

/** @throws {UsageError} that names each setting that is missing */
function requireSharedStores(settings: Settings): void {
  const missing = (Object.keys(sharedStores) as (keyof typeof sharedStores)[]).filter((name) => !settings[name])
  if (missing.length === 0) return
  const reasons = missing.map((name) => `${settingTable[name].variable} (${sharedStores[name]})`)
  throw new UsageError(`serve observe needs ${reasons.join(' and ')}`)
}

async function serveUntilInterrupted(
  settings: Settings,
  environment: Environment,
  { acceptsNewStore, log }: { readonly acceptsNewStore: boolean; readonly log: Log },
  teardown: Teardown,
): Promise<void> {
  const { random, signal, stdout } = environment
  const config = { ...gatewayConfig(settings, undefined), listeners: [] }
  const {
    db,
    peppers,
    plane: recorded,
    clock,
    close,
  } = await openStore(settings, { clock: environment.clock, log }, { acceptsNewStore })
  teardown.push(close)
  const plane = await openPlane(config, { settings, peppers, plane: recorded }, { clock, random }, log, teardown)
  const clickHouse = (await openClickHouse(settings, { clock, log }, teardown))!
  let isStarted = false
  const management = await openManagement({
    ...managementSettings(settings, { clock, random }, log),
    config,
    forwardAuthPlane: plane,
    planes: () => [plane],
    isStarted: () => isStarted,
    isStoreConnected: true,
    // The gateways do this: only they need the settings of their webhook.
    announcesExpiries: false,
    otlp: otlpAddress(settings, settings['gateway.http'][0]!),
    coreUrl: () => namedCoreUrl(settings),
    routes: storeRoutes(clickHouse, undefined),
    db,
    peppers,
  })
  teardown.push(() => management.close())
  const access = await firstAccess({ db, peppers }, { settings, isForPerson: false }, clock)
  isStarted = true
  const started = {
    consoleUrl: consoleAddress(settings, management),
    ...access,
    managementUrl: management.url,
    commands: operatorCommands(settings, management, environment.installation.kind),
    gatewayUrls: [],
    embedded: false,
    samples: undefined,
    core: undefined,
  }
  await write(stdout, banner(started))
  await untilAborted(signal)
  const delayMs = drainDelayMs(settings, signal)
  log.info({ event: 'drain.started', delay_ms: delayMs }, 'draining')
  await plane.drain(delayMs)
  log.info({ event: 'drain.ended' }, 'drained')
}
