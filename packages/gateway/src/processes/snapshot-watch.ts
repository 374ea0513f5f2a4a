import { isUnavailable } from '@penstock/db'
import type { Clock, Log, Random } from '@penstock/runtime'
import type { EnforcementMode, Snapshot } from '../contract/snapshot.ts'
import { publishEpoch, removeInstance } from '../store/instances.ts'
import { CHANGE_CHANNEL } from '../store/migrations.ts'
import type { GatewayDb } from '../store/tables.ts'
import { currentEpoch, loadSnapshot } from '../tokens/load-snapshot.ts'

/** Half of the two seconds within which a change must reach every process (T-13). */
const POLL_MS = 1_000
/** Frequent enough for the process to be treated as live; see `publishEpoch`. */
const HEARTBEAT_MS = 2_000

/** Called with the mode of enforcement and the epoch at which it was read. */
export type OnMode = (mode: EnforcementMode, epoch: number) => Promise<void>

interface Deps {
  /** The store, with short limits on the wait for an answer. @see openForPolling */
  readonly db: GatewayDb
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly instanceId: string
  /** Called with the mode of the first snapshot and whenever it changes, before the change is reported as applied. */
  readonly onMode?: OnMode | undefined
}

/**
 * Keeps the snapshot of a process at the epoch of the store: by polling, on request, and on PostgreSQL when the database
 * announces a change. Announcements only save time; polling alone keeps the bound of T-13, also after a connection was lost.
 */
export class SnapshotWatch {
  readonly #deps: Deps
  #isClosed = false
  /** Ends the pause between two polls. */
  #pause = new AbortController()
  #current: Snapshot | undefined
  #publishedEpoch = -1
  #publishedAtMs = Number.NEGATIVE_INFINITY
  #refreshing: Promise<void> | undefined
  #isFailing = false
  #isPublishing = true

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
    const { clock } = this.#deps
    const listener = this.#listen()
    while (!this.#isClosed) {
      // Begins before the poll, so that a change announced during the poll, which may not see it, is not missed.
      this.#pause = new AbortController()
      const beganAtMs = clock.monotonicMs()
      await this.#refreshOrLog()
      // Counted from the beginning of a poll, so that one that waited for an answer does not delay the next one.
      const pauseMs = Math.min(POLL_MS, Math.max(0, beganAtMs + POLL_MS - clock.monotonicMs()))
      await clock.sleep(pauseMs, this.#pause.signal).catch(() => {})
    }
    await listener?.close()
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
    const { db, log, instanceId } = this.#deps
    this.#isClosed = true
    this.#pause.abort()
    try {
      await removeInstance(db, instanceId)
    } catch (error) {
      // Without the store, the other processes notice the end of this one by its silence.
      if (!isUnavailable(error)) throw error
      log.warn({ event: 'instance.unremoved', err: error }, 'the end of this process could not be recorded')
    }
  }

  #listen() {
    const { db, log, random } = this.#deps
    return db.listen?.(CHANGE_CHANNEL, {
      onNotice: () => this.#pause.abort(),
      onLost: (err) =>
        log.warn(
          { event: 'store.notices_lost', err },
          'the database does not announce changes any more; they are noticed by polling',
        ),
      onRestored: () => log.info({ event: 'store.notices_restored' }, 'the database announces changes again'),
      random,
    })
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
    const { db, clock, onMode } = this.#deps
    const beganMs = clock.monotonicMs()
    const known = this.#current
    const isNew = known === undefined || (await againIfUnavailable(() => currentEpoch(db))) !== known.epoch
    const loaded = isNew ? await againIfUnavailable(() => loadSnapshot(db, clock.nowMs())) : known
    this.#current = { ...loaded, confirmedAtMs: beganMs }
    await onMode?.(loaded.mode, loaded.epoch)
    await this.#publish(this.#current.epoch)
  }

  /** Publishes the epoch if it is new or due. What is read counts even if nothing can be written; the next poll tries again. */
  async #publish(epoch: number): Promise<void> {
    const { db, clock, log, instanceId } = this.#deps
    const beganMs = clock.monotonicMs()
    if (epoch === this.#publishedEpoch && beganMs - this.#publishedAtMs < HEARTBEAT_MS) return
    try {
      await publishEpoch(db, instanceId, epoch, clock.nowMs())
    } catch (error) {
      if (!isUnavailable(error)) throw error
      if (this.#isPublishing) {
        const message = 'this process applies changes, but cannot tell the others that it does'
        log.warn({ event: 'instance.unpublished', err: error }, message)
      }
      this.#isPublishing = false
      return
    }
    this.#isPublishing = true
    this.#publishedEpoch = epoch
    this.#publishedAtMs = beganMs
  }
}

/** Reads a second time if the connection was lost unnoticed since the last read, because then a new one is used. */
async function againIfUnavailable<Result>(read: () => Promise<Result>): Promise<Result> {
  try {
    return await read()
  } catch (error) {
    if (!isUnavailable(error)) throw error
    return read()
  }
}
