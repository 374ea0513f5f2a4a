import { randomUUID } from 'node:crypto'
import type { RequestListener } from 'node:http'
import { autoMergeListener, type Core, ensureRootToken, startSweeping } from '@penstock/core'
import { HOOKS_PATH, hooksListener } from '@penstock/exporter'
import { EXPLORER_PATH, explorerRoutes, graphqlRoutes } from '@penstock/graphql'
import { listen, type RefusalForm } from '@penstock/http'
import { MailQueue } from '@penstock/mail'
import { areas, healthPaths, oauthRoutes, restListener, shownMessages, signInRoutes, signInUrl } from '@penstock/rest'
import { type Log, TrustedProxies } from '@penstock/runtime'
import { Webhooks } from '@penstock/webhooks'
import { mailTransport } from '../core/mail-transport.ts'
import { openCore } from '../core/open-core.ts'
import { coreExportListener } from '../exporting/core-exports.ts'
import { Exporting } from '../exporting/exporting.ts'
import { probeListener, probePaths, processHealth } from '../exporting/health-listener.ts'
import type { Environment } from '../process/environment.ts'
import { WritableDirectory } from '../process/writable-directory.ts'
import type { ExportConfig } from '../settings/export-config.ts'
import type { Settings } from '../settings/setting-table.ts'
import type { StartedCore } from './banner.ts'

export interface ServedCore extends StartedCore {
  /** The core with the listeners that export its pipelines and call its hooks. */
  readonly core: Core
  readonly exporting: Exporting
  readonly health: ReturnType<typeof processHealth>
  /** Refuses further requests, and waits at most `timeoutMs` for those in progress. */
  close(timeoutMs: number): Promise<void>
}

interface ServeCoreOptions {
  readonly config: ExportConfig
  readonly ownGateway: string
  /** @see OpenCoreOptions */
  readonly acceptsNewStore: boolean
}

/** How long after a request the process leaves time for the next one. */
const RECENT_MS = 1_000

/** The form of errors that the listener itself sends. It equals the API's errors for requests without a route. */
const refusalForm: RefusalForm = {
  contentType: 'application/json',
  body: ({ status, message }) => JSON.stringify({ error: `${status} ${message}` }),
}

/**
 * Serves the core on its address, exports its pipelines, calls its hooks and sends its mails.
 *
 * @throws {UsageError} if the directory or the database cannot be used; the system's error if the address cannot be bound
 */
export async function serveCore(
  settings: Settings,
  { clock, random }: Environment,
  log: Log,
  { acceptsNewStore, ...exports }: ServeCoreOptions,
): Promise<ServedCore> {
  // The address is bound first, because generated URLs begin with it. Requests before the core is open get a 503.
  let answer: RequestListener = (_request, response) => {
    response.writeHead(503, { 'Retry-After': '1' }).end()
  }
  const trustedProxies = new TrustedProxies(settings['core.trustedProxies'])
  const listening = await listen((request, response) => answer(request, response), settings['core.listen'], {
    limits: {
      maxConnections: settings['core.maxConnections'],
      maxPerAddress: settings['core.maxConnectionsPerAddress'],
    },
    isExempt: (address) => trustedProxies.has(address),
    probePaths: [...probePaths, ...healthPaths],
    refusalForm,
    log,
  })
  try {
    const externalUrl = (settings['core.externalUrl'] ?? listening.url).replace(/\/+$/, '')
    const {
      core: plain,
      db,
      close,
    } = await openCore(settings, { clock, log }, { externalUrl, migrates: true, acceptsNewStore })
    try {
      const exporting = new Exporting({ ...exports, core: plain, db, random, log })
      const { exporter, fetcher } = exporting
      const webhooks = new Webhooks({ core: plain, random, newClaim: randomUUID, log })
      const transport = mailTransport(settings, { externalUrl, clock })
      let lastRequestMs = Number.NEGATIVE_INFINITY
      const answersRequests = () => clock.monotonicMs() - lastRequestMs < RECENT_MS
      const mails = new MailQueue({ core: plain, transport, random, newClaim: randomUUID, log, answersRequests })
      const core: Core = {
        ...plain,
        listeners: [
          ...(plain.listeners ?? []),
          coreExportListener(exporter),
          webhooks.listener,
          mails.listener,
          autoMergeListener,
        ],
        hookCalls: webhooks.calls,
      }
      const rootToken = await ensureRootToken(core, settings.rootToken)
      const rest = restListener({
        core,
        areas,
        log,
        rateLimits: {
          anonymous: { count: settings['core.anonymousPerMinute'], periodSeconds: 60 },
          authenticated: { count: settings['core.authenticatedPerMinute'], periodSeconds: 60 },
        },
        trustedProxies,
        strictTransportSeconds: settings['core.strictTransportSeconds'],
        extraRoutes: [
          ...oauthRoutes(core),
          ...signInRoutes(core, EXPLORER_PATH),
          ...graphqlRoutes({ core }),
          ...explorerRoutes({
            core,
            signInUrl: (returnTo) => signInUrl(core, returnTo),
            messages: (request) => shownMessages(core, request),
          }),
        ],
      })
      const hooks = hooksListener({
        bodies: exporter.bodies,
        sources: exports.config.sources,
        intake: exporter.intake,
        fetcher,
        serviceName: settings.serviceName,
        clock,
        log,
        trustedProxies,
      })
      const health = processHealth(exporting, new WritableDirectory(settings.dataDir, clock))
      const probes = probeListener(health, log)
      answer = (request, response) => {
        const path = request.url!.split('?', 1)[0]!
        if (probePaths.includes(path)) return probes(request, response)
        lastRequestMs = clock.monotonicMs()
        return (path.startsWith(HOOKS_PATH) ? hooks : rest)(request, response)
      }
      exporting.start()
      webhooks.start()
      mails.start()
      const sweeping = startSweeping(core, { eventDays: settings['core.eventRetentionDays'] }, log)
      return {
        url: externalUrl,
        rootToken,
        hooks: [...exports.config.sources.keys()].map((name) => `${externalUrl}${HOOKS_PATH}${name}`),
        core,
        exporting,
        health,
        close: async (timeoutMs) => {
          await listening.close(AbortSignal.timeout(timeoutMs))
          await exporting.end()
          await webhooks.end()
          await mails.end()
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
