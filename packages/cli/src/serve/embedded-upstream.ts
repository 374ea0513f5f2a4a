import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { type FileLock, lockFile } from '@penstock/db'
import type { ManagementContext, OperationName, UpstreamConfig } from '@penstock/gateway'
import type { Route } from '@penstock/http'
import {
  LiveStreams,
  type Observe,
  type ObserveOptions,
  observeServer,
  startObserve,
  unusableObserve,
} from '@penstock/observe'
import type { Clock, Log } from '@penstock/runtime'
import { databaseErrorText, isDatabaseError, requireUsable } from '../process/database-error.ts'
import { type Environment, UsageError } from '../process/environment.ts'
import { type Settings, settingTable } from '../settings/setting-table.ts'
import { storeRoutes } from './store-routes.ts'

export interface EmbeddedUpstream {
  readonly upstream: UpstreamConfig
  /** Resolves when the store can write, or when it is known that its file cannot be used. */
  readonly opened: Promise<void>
  /** The query routes, which require an API key. */
  readonly routes: readonly Route<ManagementContext, OperationName>[]
  /** Ends the streams of live updates, which would otherwise keep the listener open. */
  endStreams(): void
  close(): Promise<void>
}

/**
 * Opens the store that the gateway uses if no upstream is set. It listens on loopback, and only
 * the gateway has its credential.
 */
export async function openEmbeddedUpstream(
  settings: Settings,
  { clock }: Pick<Environment, 'clock'>,
  log: Log,
): Promise<EmbeddedUpstream> {
  const lock = await lockStore(settings.dataDir)
  try {
    return await openLocked(settings, clock, log, lock)
  } catch (error) {
    lock.release()
    throw error
  }
}

async function startStore(options: ObserveOptions): Promise<Observe> {
  try {
    return await startObserve(options)
  } catch (error) {
    if (!isDatabaseError(error)) throw error
    return unusableObserve(error)
  }
}

/** @throws {UsageError} if another process uses the embedded store */
async function lockStore(dataDir: string): Promise<Extract<FileLock, { readonly kind: 'acquired' }>> {
  const file = join(dataDir, 'observe.lock')
  const lock = await requireUsable(file, (async () => lockFile(file))())
  if (lock.kind === 'acquired') return lock
  const holder = lock.processId === undefined ? '' : ` (process ${lock.processId})`
  throw new UsageError(
    `another penstock serve${holder} uses the embedded store in ${dataDir}: stop it, or set ${settingTable['gateway.upstream'].variable} for both`,
  )
}

async function openLocked(
  settings: Settings,
  clock: Clock,
  log: Log,
  lock: { release(): void },
): Promise<EmbeddedUpstream> {
  const file = join(settings.dataDir, 'observe.db')
  const limits = {
    retentionMs: settings['observability.retentionHours'] * 3_600_000,
    maxFileBytes: settings['observability.maxMegabytes'] * 1024 * 1024,
  }
  const store = await startStore({ file, clock, log, limits })
  // The gateway and the core work without the store, so a damaged file stops only what reads and writes it.
  const opened = store.opened.then(
    () => {},
    (error: Error) =>
      log.error(
        { event: 'observe.database_unusable', file, error: databaseErrorText(error) },
        'The embedded store cannot be used, and its requests get 503: move the file away and restart, or set an upstream',
      ),
  )
  const credential = randomBytes(32).toString('base64url')
  const server = await observeServer(store, { credential, log })
  const streams = new LiveStreams(clock)
  store.onKept(() => streams.notify())
  return {
    upstream: { url: server.url, credential: { header: `Bearer ${credential}` } },
    opened,
    routes: storeRoutes(store, streams),
    endStreams: () => streams.close(),
    close: async () => {
      await server.close()
      await store.close()
      lock.release()
    },
  }
}
