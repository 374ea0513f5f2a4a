import type { Clock, Log } from '@penstock/runtime'
import type { MetricRegistry } from '../metrics/registry.ts'
import type { Propagation } from '../operations/operation-context.ts'
import { listLiveInstances } from '../store/instances.ts'
import type { GatewayDb } from '../store/tables.ts'
import { currentEpoch } from '../tokens/load-snapshot.ts'
import type { IngestPlane } from './ingest-plane.ts'

/** The longest wait for every live process to run a change (T-13). */
const MAX_WAIT_MS = 2_000
const POLL_MS = 25

interface Deps {
  readonly db: GatewayDb
  readonly clock: Clock
  readonly log: Log
  /** Records the time that a propagation took. */
  readonly metrics?: MetricRegistry
  /** The planes that can be notified directly. Other processes notice the change when they poll the store. */
  readonly planes: () => readonly IngestPlane[]
}

/** Notifies the data paths of a committed change, and waits until all live ones run it, at most 2 s (T-13). */
export async function propagate({ db, clock, log, metrics, planes }: Deps): Promise<Propagation> {
  const startMs = clock.monotonicMs()
  const epoch = await currentEpoch(db)
  const results = await Promise.allSettled(planes().map((plane) => plane.refresh()))
  for (const outcome of results) {
    if (outcome.status === 'rejected')
      log.warn({ event: 'propagation.failed', err: outcome.reason }, 'a process could not be notified of a change')
  }
  for (;;) {
    const live = await listLiveInstances(db, clock.nowMs())
    const passedMs = clock.monotonicMs() - startMs
    const applied = live.filter((instance) => instance.epoch >= epoch).length
    if (applied === live.length) metrics?.record('otelcol_ingestauth_propagation_seconds', {}, passedMs / 1000)
    if (applied === live.length || passedMs >= MAX_WAIT_MS) return { instances: live.length, applied }
    await clock.sleep(POLL_MS)
  }
}
