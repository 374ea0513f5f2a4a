import { openSqlite, type SqliteDb } from '@penstock/db'
import type { Clock, Log } from '@penstock/runtime'
import { rereadSome } from '../runs/pipeline-reread.ts'
import type { ObserveTables } from '../schema/tables.ts'
import { insertArrivals } from './arrival-store.ts'
import type { StoreBounds } from './observe-limits.ts'
import type { Receipt, ReceivedRequest, RequestLimits } from './received-request.ts'
import { deleteSome, findLastSliceBefore, findOldestSlice, ROWS_PER_STEP, readSpace } from './retention-store.ts'
import { rowCounts } from './status.ts'
import { type Piece, WriteQueue } from './write-queue.ts'

interface StoreWriterOptions {
  readonly file: string
  readonly clock: Clock
  readonly limits: StoreBounds & RequestLimits
  readonly log: Log
}

const MAINTENANCE_INTERVAL_MS = 60_000
const PAGES_PER_RECLAIM = 1_000
/** How many free pages stay in the file for the next rows. */
const SPARE_PAGES = 256

/** Opens a database after its migrations, and keeps it within its limits until it is closed. */
export function openStoreWriter({ file, clock, limits, log }: StoreWriterOptions): StoreWriter {
  return new StoreWriter(openStoreFile(file), clock, limits, log)
}

export const openStoreFile = (file: string): SqliteDb<ObserveTables> => openSqlite(file, { reclaimable: true })

/**
 * Writes requests to the database in the order of a `WriteQueue`, and deletes items that are too old or beyond the size limit.
 * Decoding and SQL block the thread for a long time, so the writer needs a thread of its own.
 */
export class StoreWriter {
  readonly #db: SqliteDb<ObserveTables>
  readonly #clock: Clock
  readonly #limits: StoreBounds & RequestLimits
  readonly #log: Log
  readonly #stop = new AbortController()
  readonly #maintaining: Promise<void>
  readonly #queue: WriteQueue
  #writing: Promise<void> | undefined

  constructor(db: SqliteDb<ObserveTables>, clock: Clock, limits: StoreBounds & RequestLimits, log: Log) {
    this.#limits = limits
    this.#db = db
    this.#clock = clock
    this.#log = log
    this.#queue = new WriteQueue(limits)
    this.#maintaining = this.#maintain()
  }

  /** Stores one Export*ServiceRequest. A `kept` one survives a crash of the process and a loss of power. */
  async receive(received: ReceivedRequest): Promise<Receipt> {
    if (this.#stop.signal.aborted) return { kind: 'unavailable', text: 'the embedded store is closing' }
    return new Promise((settle) => {
      this.#queue.add(received, settle)
      this.#writing ??= this.#writeWaiting()
    })
  }

  /** Writes everything received, then closes the file. Later requests are `unavailable`. */
  async close(): Promise<void> {
    this.#stop.abort()
    await this.#writing
    await this.#maintaining
    await this.#db.close()
  }

  async #writeWaiting(): Promise<void> {
    while (!this.#queue.isEmpty) {
      // Requests that arrived during the last transaction are accepted first, so that they share the next one.
      await turnOfTheLoop()
      const batch = this.#queue.nextBatch(this.#clock.nowNs())
      if (batch.length === 0) continue
      await this.#write(batch)
      await this.#makeRoom()
    }
    this.#writing = undefined
  }

  /** Writes a batch. If that fails, requests are written one by one, so that one of them cannot fail the others. */
  async #write(batch: readonly Piece[]): Promise<void> {
    try {
      await this.#db.write((tx) =>
        insertArrivals(
          tx,
          batch.map(({ arrival }) => arrival),
          this.#clock.nowMs(),
        ),
      )
      for (const { written } of batch) written()
    } catch (error) {
      if (batch.length > 1) {
        for (const one of batch) await this.#write([one])
        return
      }
      this.#log.error({ event: 'observe.write_failed', error: String(error) }, 'The embedded store could not write')
      for (const { failed } of batch) failed({ kind: 'unavailable', text: 'the embedded store could not write' })
    }
  }

  async #maintain(): Promise<void> {
    for (;;) {
      await this.#attempt('observe.maintenance_failed', async () => {
        const upTo = await findLastSliceBefore(this.#db.read, this.#clock.nowMs() - this.#limits.retentionMs)
        if (upTo !== undefined) await this.#deleteUpTo(upTo)
        await this.#makeRoom()
        await this.#shrink()
      })
      await this.#attempt('observe.reread_failed', async () => {
        while (!this.#stop.signal.aborted && !(await this.#db.write(rereadSome))) await turnOfTheLoop()
      })
      try {
        await this.#clock.sleep(MAINTENANCE_INTERVAL_MS, this.#stop.signal)
      } catch {
        return
      }
    }
  }

  async #deleteUpTo(sliceId: number): Promise<void> {
    while (!this.#stop.signal.aborted && !(await this.#db.write((tx) => deleteSome(tx, sliceId)))) await turnOfTheLoop()
  }

  async #makeRoom(): Promise<void> {
    await this.#attempt('observe.make_room_failed', async () => {
      for (;;) {
        const excess = await this.#excess()
        const oldest = await findOldestSlice(this.#db.read)
        if (excess <= 0 || oldest === undefined) return
        const { spans, log_records, points } = await rowCounts(this.#db.read)
        const rows = Math.ceil((spans + log_records + points) * excess)
        await this.#db.write((tx) => deleteSome(tx, oldest.id, Math.min(rows, ROWS_PER_STEP)))
      }
    })
  }

  /** Returns the space beyond the limit, as a share of the used space; negative if there is none. */
  async #excess(): Promise<number> {
    const { pageBytes, pages, freePages } = await readSpace(this.#db.read)
    const usedBytes = (pages - freePages) * pageBytes
    return (usedBytes - this.#limits.maxFileBytes) / usedBytes
  }

  async #shrink(): Promise<void> {
    while (!this.#stop.signal.aborted && (await readSpace(this.#db.read)).freePages > SPARE_PAGES) {
      await this.#db.reclaim(PAGES_PER_RECLAIM)
      await turnOfTheLoop()
    }
  }

  async #attempt(event: string, work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (error) {
      this.#log.error(
        { event, error: String(error) },
        'The embedded store could not delete old telemetry or read it again; it tries again later',
      )
    }
  }
}

const turnOfTheLoop = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
