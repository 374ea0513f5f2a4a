import type { RequestListener } from 'node:http'
import { ensureRootToken, startSweeping } from '@penstock/core'
import { listen } from '@penstock/http'
import { areas, oauthRoutes, restListener, signInRoutes } from '@penstock/rest'
import { type Log, TrustedProxies } from '@penstock/runtime'
import type { Environment } from '../environment.ts'
import type { Settings } from '../serve/setting-table.ts'
import { openCore } from './open-core.ts'

export interface ServedCore {
  readonly url: string
  /** Value of the first administrator's token, when it has just been made here. */
  readonly rootToken: string | undefined
  /** Takes no more requests, and waits for those under way, at most so long. */
  close(timeoutMs: number): Promise<void>
}

/**
 * The core on its address.
 *
 * @throws {UsageError} when directory or database cannot be used; the system's error when the address cannot be had
 */
export async function serveCore(settings: Settings, { clock }: Environment, log: Log): Promise<ServedCore> {
  // Generated URLs begin with the address that was bound, so that comes first; who is quick comes again.
  let answer: RequestListener = (_request, response) => {
    response.writeHead(503, { 'Retry-After': '1' }).end()
  }
  const listening = await listen((request, response) => answer(request, response), settings['core.listen'])
  try {
    const externalUrl = (settings['core.externalUrl'] ?? listening.url).replace(/\/+$/, '')
    const { core, close } = await openCore(settings, clock, { externalUrl, migrates: true })
    try {
      const rootToken = await ensureRootToken(core, settings.rootToken)
      answer = restListener({
        core,
        areas,
        log,
        rateLimits: {
          anonymous: { count: settings['core.anonymousPerMinute'], periodSeconds: 60 },
          authenticated: { count: settings['core.authenticatedPerMinute'], periodSeconds: 60 },
        },
        trustedProxies: new TrustedProxies(settings['core.trustedProxies']),
        extraRoutes: [...oauthRoutes(core), ...signInRoutes(core)],
      })
      const sweeping = startSweeping(core, { eventDays: settings['core.eventRetentionDays'] }, log)
      return {
        url: externalUrl,
        rootToken,
        close: async (timeoutMs) => {
          await listening.close(AbortSignal.timeout(timeoutMs))
          await sweeping.end()
          await close()
        },
      }
    } catch (error) {
      await close()
      throw error
    }
  } catch (error) {
    await listening.close(AbortSignal.abort())
    throw error
  }
}
