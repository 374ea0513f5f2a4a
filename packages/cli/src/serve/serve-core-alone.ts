import { jsonLog } from '@penstock/runtime'
import { listenForHealth } from '../exporting/health-listener.ts'
import { type Environment, exitCodes } from '../process/environment.ts'
import { write } from '../process/output.ts'
import { exportConfig, gatewayUrl } from '../settings/export-config.ts'
import type { Settings } from '../settings/setting-table.ts'
import { coreLines } from './banner.ts'
import { serveCore } from './serve-core.ts'
import { startErrorOf } from './start-error.ts'
import { untilAborted } from './until-aborted.ts'

/**
 * Serves the core and exports its pipelines until `environment.signal` aborts, then shuts down in order.
 *
 * @throws {UsageError} for invalid settings and addresses that cannot be bound
 */
export async function serveCoreAlone(
  settings: Settings,
  environment: Environment,
  acceptsNewStore: boolean,
): Promise<number> {
  const { stdout, stderr, clock, signal } = environment
  const log = jsonLog(stderr, () => clock.nowMs())
  const exports = { config: exportConfig(settings), ownGateway: gatewayUrl(settings), acceptsNewStore }
  const address = settings['core.metricsListen']
  try {
    const core = await serveCore(settings, environment, log, exports)
    try {
      const health = address && (await listenForHealth(address, core.health, log))
      const { facts, commands } = coreLines(core)
      const metrics = health === undefined ? [] : [`Its metrics and health are on ${health.url}.`]
      await write(stdout, `${[...facts, ...metrics, '', 'Try next:', ...commands].join('\n')}\n`)
      await untilAborted(signal)
      await health?.close(AbortSignal.abort())
    } finally {
      await core.close(settings['gateway.drainTimeoutMs'])
    }
    return exitCodes.ok
  } catch (error) {
    throw startErrorOf(error, settings) ?? error
  }
}
