import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import type { UpstreamConfig } from '@penstock/gateway'
import { observeRoutes, observeServer, openObserve } from '@penstock/observe'
import type { Log } from '@penstock/runtime'
import type { Environment } from '../environment.ts'
import type { Settings } from './setting-table.ts'

export interface EmbeddedUpstream {
  readonly upstream: UpstreamConfig
  readonly routes: ReturnType<typeof observeRoutes>
  close(): Promise<void>
}

/** The store behind the gateway when nothing else is. It listens on loopback, and only the gateway has its credential. */
export async function openEmbeddedUpstream(
  settings: Settings,
  { clock }: Environment,
  log: Log,
): Promise<EmbeddedUpstream> {
  const store = await openObserve({
    file: join(settings.dataDir, 'observe.db'),
    clock,
    log,
    limits: {
      retentionMs: settings['observability.retentionHours'] * 3_600_000,
      maxBytes: settings['observability.maxMegabytes'] * 1024 * 1024,
    },
  })
  const credential = randomBytes(32).toString('base64url')
  const server = await observeServer(store, { credential, log })
  return {
    upstream: { url: server.url, credential: { header: `Bearer ${credential}` } },
    routes: observeRoutes(store),
    close: async () => {
      await server.close()
      await store.close()
    },
  }
}
