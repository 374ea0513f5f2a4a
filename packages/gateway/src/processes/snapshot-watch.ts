import type { Clock, Log } from '@penstock/runtime'
import type { Snapshot } from '../contract/snapshot.ts'
import { publishEpoch, removeInstance } from '../store/instances.ts'
import type { GatewayDb } from '../store/tables.ts'
import { currentEpoch, loadSnapshot } from '../tokens/load-snapshot.ts'

/** Half of the two seconds within which a change must reach every process (T-13). */
const POLL_MS = 1_000
/** Frequent enough for the process to count as live; see `publishEpoch`. */
const HEARTBEAT_MS = 2_000

interface Deps {
  readonly db: GatewayDb
  readonly clock: Clock
  readonly log: Log
  readonly instanceId: string
}

/** Keeps the snapshot of a process at the epoch of the store, by polling and on request. */
export class SnapshotWatch {
  readonly #deps: Deps
  readonly #stop = new AbortController()
  #current: Snapshot | undefined
  #publishedEpoch = -1
  #publishedAtMs = 0
  #refreshing: Promise<void> | undefined
  #isFailing = false

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** The current snapshot, or `undefined` until the store has been read once. */
  get current(): Snapshot | undefined {
    return this.#current
  }

  /** True if the last poll failed. */
  get isFailing(): boolean {
    return this.#isFailing
  }

  /** Polls until `close`. A failure of the store is logged once per outage, while the snapshot ages. */
  async run(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      await this.#refreshOrLog()
      await this.#deps.clock.sleep(POLL_MS, this.#stop.signal).catch(() => {})
    }
  }

  /** Starts a new refresh after any running one, which may have read before the change that the caller committed. */
  async refresh(): Promise<void> {
    while (this.#refreshing !== undefined) await this.#refreshing.catch(() => {})
    this.#refreshing = this.#read()
    try {
      await this.#refreshing
    } finally {
      this.#refreshing = undefined
    }
  }

  async close(): Promise<void> {
    this.#stop.abort()
    await removeInstance(this.#deps.db, this.#deps.instanceId)
  }

  async #refreshOrLog(): Promise<void> {
    try {
      await this.refresh()
      if (this.#isFailing) this.#deps.log.info({ event: 'store.recovered' }, 'the token store can be read again')
      this.#isFailing = false
    } catch (error) {
      if (!this.#isFailing) {
        this.#deps.log.error(
          { event: 'store.unreadable', err: error },
          'the token store cannot be read; the last snapshot stays in use',
        )
      }
      this.#isFailing = true
    }
  }

  async #read(): Promise<void> {
    const { db, clock } = this.#deps
    const nowMs = clock.nowMs()
    const known = this.#current
    const isNew = known === undefined || (await currentEpoch(db)) !== known.epoch
    this.#current = isNew ? await loadSnapshot(db, nowMs) : { ...known, confirmedAtMs: nowMs }
    await this.#publish(this.#current.epoch, nowMs)
  }

  async #publish(epoch: number, nowMs: number): Promise<void> {
    if (epoch === this.#publishedEpoch && nowMs - this.#publishedAtMs < HEARTBEAT_MS) return
    await publishEpoch(this.#deps.db, this.#deps.instanceId, epoch, nowMs)
    this.#publishedEpoch = epoch
    this.#publishedAtMs = nowMs
  }
}
