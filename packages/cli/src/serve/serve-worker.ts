import { randomUUID } from 'node:crypto'
import { MailQueue } from '@penstock/mail'
import { jsonLog } from '@penstock/runtime'
import { mailTransport } from '../core/mail-transport.ts'
import { openCore } from '../core/open-core.ts'
import { Exporting } from '../exporting/exporting.ts'
import { listenForHealth, processHealth } from '../exporting/health-listener.ts'
import { type Environment, exitCodes } from '../process/environment.ts'
import { write } from '../process/output.ts'
import { WritableDirectory } from '../process/writable-directory.ts'
import { exportConfig, gatewayUrl } from '../settings/export-config.ts'
import type { Settings } from '../settings/setting-table.ts'
import { startErrorOf } from './start-error.ts'
import { untilAborted } from './until-aborted.ts'

/**
 * Exports the enqueued pipelines of the core and of its hooks, and sends its mails, until `environment.signal` aborts, then shuts
 * down in order. Other processes may work on the same database. Without the URL of an SMTP server, or the external URL with which
 * the links in mails begin, it sends no mails: the core does.
 *
 * @throws {UsageError} for invalid settings, for addresses that cannot be bound, and if there is no core
 */
export async function serveWorker(
  settings: Settings,
  { stdout, stderr, clock, random, signal }: Environment,
): Promise<number> {
  const log = jsonLog(stderr, () => clock.nowMs())
  const config = exportConfig(settings)
  const externalUrl = (settings['core.externalUrl'] ?? '').replace(/\/+$/, '')
  const sendsMails = settings['core.smtpUrl'] !== undefined && externalUrl !== ''
  try {
    const { core, db, close } = await openCore(
      settings,
      { clock, log },
      { externalUrl, migrates: true, mustExist: true },
    )
    try {
      const exporting = new Exporting({ core, db, config, ownGateway: gatewayUrl(settings), random, log })
      const directory = new WritableDirectory(settings.dataDir, clock)
      const health = await listenForHealth(settings['observability.listen'], processHealth(exporting, directory), log)
      const transport = mailTransport(settings, { externalUrl, clock })
      const mails = new MailQueue({ core, transport, random, newClaim: randomUUID, log, answersRequests: () => false })
      exporting.start()
      if (sendsMails) mails.start()
      const mailed = sendsMails ? ', and sends the mails that are waiting' : ''
      await write(stdout, `Penstock exports what is waiting${mailed}. Metrics and health are on ${health.url}.\n`)
      await untilAborted(signal)
      await exporting.end()
      await mails.end()
      await health.close(AbortSignal.abort())
    } finally {
      await close()
    }
    return exitCodes.ok
  } catch (error) {
    throw startErrorOf(error, settings) ?? error
  }
}
