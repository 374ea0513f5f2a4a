import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import {
  ApiError,
  type ManagementContext,
  type OperationName,
  parseInput,
  type UpstreamConfig,
} from '@penstock/gateway'
import type { Route } from '@penstock/http'
import { observeRoutes, observeServer, openObserve } from '@penstock/observe'
import type { Log } from '@penstock/runtime'
import { requireUsable } from '../process/database-error.ts'
import type { Environment } from '../process/environment.ts'
import type { Settings } from '../settings/setting-table.ts'

export interface EmbeddedUpstream {
  readonly upstream: UpstreamConfig
  /** The query routes, which require an API key. */
  readonly routes: readonly Route<ManagementContext, OperationName>[]
  close(): Promise<void>
}

const unavailable = () => new ApiError('store_unavailable', 'The embedded store cannot answer at the moment.')

const traceNotFound = () => new ApiError('not_found', 'No such trace is stored.')

/**
 * Opens the store that the gateway uses if no upstream is set. It listens on loopback, and only
 * the gateway has its credential.
 */
export async function openEmbeddedUpstream(
  settings: Settings,
  { clock }: Environment,
  log: Log,
): Promise<EmbeddedUpstream> {
  const file = join(settings.dataDir, 'observe.db')
  const limits = {
    retentionMs: settings['observability.retentionHours'] * 3_600_000,
    maxFileBytes: settings['observability.maxMegabytes'] * 1024 * 1024,
  }
  const store = await requireUsable(file, openObserve({ file, clock, log, limits }))
  const credential = randomBytes(32).toString('base64url')
  const server = await observeServer(store, { credential, log })
  return {
    upstream: { url: server.url, credential: { header: `Bearer ${credential}` } },
    routes: observeRoutes({ store, access: 'observe', parse: parseInput, unavailable, traceNotFound }),
    close: async () => {
      await server.close()
      await store.close()
    },
  }
}
