import { jsonLog } from '@penstock/runtime'
import { type Environment, exitCodes } from '../environment.ts'
import { write } from '../output.ts'
import { coreLines } from '../serve/banner.ts'
import type { Settings } from '../serve/setting-table.ts'
import { startErrorOf } from '../serve/start-error.ts'
import { serveCore } from './serve-core.ts'

/**
 * Serves the core until `environment.signal` aborts, then ends in order.
 *
 * @throws {UsageError} for settings that cannot work and addresses that cannot be had
 */
export async function serveCoreAlone(settings: Settings, environment: Environment): Promise<number> {
  const { stdout, stderr, clock, signal } = environment
  const log = jsonLog(stderr, () => clock.nowMs())
  const core = await serveCore(settings, environment, log).catch((error: unknown) => {
    throw startErrorOf(error, settings) ?? error
  })
  const { facts, tries } = coreLines(core)
  await write(stdout, `${[...facts, '', 'Try next:', ...tries].join('\n')}\n`)
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
  await core.close(settings['gateway.drainTimeoutMs'])
  return exitCodes.ok
}
