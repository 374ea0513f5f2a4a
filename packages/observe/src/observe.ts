import { migrate, openSqlite, type SqliteDb } from '@penstock/db'
import { decodeRequest, type Encoding, OtlpDecodeError, type PartialSuccess, type Signal } from '@penstock/otlp'
import { type Clock, type Log, silentLog } from '@penstock/runtime'
import { type Arrival, rowsOf, toArrival } from './arrival.ts'
import { insertArrivals } from './arrival-store.ts'
import { type LogQuery, listLogRecords } from './log-queries.ts'
import { findMetric, listMetricNames, type MetricQuery } from './metric-queries.ts'
import { migrations } from './migrations.ts'
import { deleteSome, findLastSliceBefore, findOldestSlice, ROWS_PER_STEP, spaceOf } from './retention-store.ts'
import { listServices } from './service-queries.ts'
import { type ObserveStatus, rowCounts } from './status.ts'
import type { ObserveTables } from './tables.ts'
import { findTrace, listTraces, type TraceQuery } from './trace-queries.ts'

export interface ObserveLimits {
  /** How long anything is kept after it arrived, whatever time it bears. Default 7 days. */
  readonly retentionMs: number
  /** Of the database file; the oldest goes to make room. The write-ahead log beside it takes a few MiB more. Default 1 GiB. */
  readonly maxFileBytes: number
  /** Of request bodies that wait for their turn to be written. Default 64 MiB. */
  readonly maxWaitingBytes: number
}

export const defaultObserveLimits: ObserveLimits = {
  retentionMs: 7 * 24 * 3_600_000,
  maxFileBytes: 1024 * 1024 * 1024,
  maxWaitingBytes: 64 * 1024 * 1024,
}

export interface ObserveOptions {
  readonly file: string
  readonly clock: Clock
  readonly limits?: Partial<ObserveLimits>
  readonly log?: Log
}

/** What became of one request. Nothing of a `rejected` or `unavailable` one is kept; the latter may be sent again. */
export type Receipt =
  | { readonly kind: 'kept'; readonly partialSuccess: PartialSuccess | undefined }
  | { readonly kind: 'rejected'; readonly text: string }
  | { readonly kind: 'unavailable'; readonly text: string }

/** Of one transaction: what waits beyond it goes into the next. */
const ROWS_PER_TRANSACTION = 20_000
const MAINTENANCE_INTERVAL_MS = 60_000
const PAGES_PER_RECLAIM = 1_000
/** Free pages that are left in the file for the next rows. */
const SPARE_PAGES = 256

const PURPOSE =
  'A store for a laptop and for the first five minutes: one process, one file, bounded in age and size. ' +
  'For anything more, set an upstream.'

interface Waiting {
  readonly arrival: Arrival
  readonly bytes: number
  settle(receipt: Receipt): void
}

/** Opens or creates the store, and keeps it within its limits until it is closed. */
export async function openObserve({ file, clock, limits = {}, log = silentLog }: ObserveOptions): Promise<Observe> {
  const db = openSqlite<ObserveTables>(file, { reclaimable: true })
  await migrate(db, migrations)
  return new Observe(db, clock, { ...defaultObserveLimits, ...limits }, log)
}

/**
 * Telemetry on a laptop: received, kept for a while, answered for. One process owns the file.
 */
export class Observe {
  readonly limits: ObserveLimits
  readonly #db: SqliteDb<ObserveTables>
  readonly #clock: Clock
  readonly #log: Log
  readonly #stop = new AbortController()
  readonly #maintaining: Promise<void>
  #waiting: Waiting[] = []
  #waitingBytes = 0
  #writing: Promise<void> | undefined

  constructor(db: SqliteDb<ObserveTables>, clock: Clock, limits: ObserveLimits, log: Log) {
    this.limits = limits
    this.#db = db
    this.#clock = clock
    this.#log = log
    this.#maintaining = this.#maintain()
  }

  /**
   * Takes one Export*ServiceRequest. A `kept` one survives the loss of the process and of power.
   *
   * @param body without content coding
   */
  async receive(signal: Signal, body: Uint8Array, encoding: Encoding): Promise<Receipt> {
    if (this.#stop.signal.aborted) return { kind: 'unavailable', text: 'the embedded store is closing' }
    if (this.#waitingBytes > 0 && this.#waitingBytes + body.length > this.limits.maxWaitingBytes) {
      return { kind: 'unavailable', text: 'the embedded store cannot keep up' }
    }
    let arrival: Arrival
    try {
      arrival = toArrival(signal, decodeRequest(signal, body, encoding), this.#clock.nowNs())
    } catch (error) {
      if (error instanceof OtlpDecodeError) return { kind: 'rejected', text: error.message }
      throw error
    }
    return new Promise((settle) => {
      this.#waiting.push({ arrival, bytes: body.length, settle })
      this.#waitingBytes += body.length
      this.#writing ??= this.#writeWaiting()
    })
  }

  services = () => listServices(this.#db)
  traces = (query: TraceQuery) => listTraces(this.#db, query)
  trace = (traceId: string, maxSpans: number) => findTrace(this.#db, traceId, maxSpans)
  metricNames = (query: { service?: string | undefined; limit: number }) => listMetricNames(this.#db, query)
  metric = (query: MetricQuery) => findMetric(this.#db, query)
  logRecords = (query: LogQuery) => listLogRecords(this.#db, query)

  async status(): Promise<ObserveStatus> {
    const oldest = await findOldestSlice(this.#db)
    const { pageBytes, pages, freePages } = await spaceOf(this.#db)
    return {
      purpose: PURPOSE,
      retention_seconds: this.limits.retentionMs / 1000,
      max_bytes: this.limits.maxFileBytes,
      used_bytes: (pages - freePages) * pageBytes,
      oldest_received_at: oldest === undefined ? null : new Date(oldest.started_ms).toISOString(),
      kept: await rowCounts(this.#db),
    }
  }

  /** Writes what has been received, then lets go of the file. Requests that come later are `unavailable`. */
  async close(): Promise<void> {
    this.#stop.abort()
    await this.#writing
    await this.#maintaining
    await this.#db.close()
  }

  async #writeWaiting(): Promise<void> {
    while (this.#waiting.length > 0) {
      // SQLite blocks the event loop while it writes, so requests that came meanwhile have to be let in first.
      await turnOfTheLoop()
      const batch = this.#takeBatch()
      await this.#write(batch)
      await this.#makeRoom()
    }
    this.#writing = undefined
  }

  #takeBatch(): Waiting[] {
    let rows = 0
    const full = this.#waiting.findIndex(({ arrival }) => {
      rows += rowsOf(arrival)
      return rows > ROWS_PER_TRANSACTION
    })
    const batch = this.#waiting.splice(0, full === -1 ? this.#waiting.length : Math.max(full, 1))
    for (const { bytes } of batch) this.#waitingBytes -= bytes
    return batch
  }

  /** What fails together is tried one by one, so that nobody suffers for a neighbour. */
  async #write(batch: readonly Waiting[]): Promise<void> {
    try {
      await this.#db.write((tx) =>
        insertArrivals(
          tx,
          batch.map(({ arrival }) => arrival),
          this.#clock.nowMs(),
        ),
      )
      for (const { arrival, settle } of batch) settle(keptReceipt(arrival))
    } catch (error) {
      if (batch.length > 1) {
        for (const one of batch) await this.#write([one])
        return
      }
      this.#log.error({ event: 'observe.write_failed', error: String(error) }, 'The embedded store could not write')
      for (const { settle } of batch) settle({ kind: 'unavailable', text: 'the embedded store could not write' })
    }
  }

  async #maintain(): Promise<void> {
    for (;;) {
      await this.#attempt('observe.maintenance_failed', async () => {
        const upTo = await findLastSliceBefore(this.#db, this.#clock.nowMs() - this.limits.retentionMs)
        if (upTo !== undefined) await this.#deleteUpTo(upTo)
        await this.#makeRoom()
        await this.#shrink()
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
        const oldest = await findOldestSlice(this.#db)
        if (excess <= 0 || oldest === undefined) return
        const { spans, log_records, points } = await rowCounts(this.#db)
        const rows = Math.ceil((spans + log_records + points) * excess)
        await this.#db.write((tx) => deleteSome(tx, oldest.id, Math.min(rows, ROWS_PER_STEP)))
      }
    })
  }

  /** How much of what is kept is too much, as a share. */
  async #excess(): Promise<number> {
    const { pageBytes, pages, freePages } = await spaceOf(this.#db)
    const usedBytes = (pages - freePages) * pageBytes
    return (usedBytes - this.limits.maxFileBytes) / usedBytes
  }

  async #shrink(): Promise<void> {
    while (!this.#stop.signal.aborted && (await spaceOf(this.#db)).freePages > SPARE_PAGES) {
      await this.#db.reclaim(PAGES_PER_RECLAIM)
      await turnOfTheLoop()
    }
  }

  async #attempt(event: string, work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (error) {
      this.#log.error({ event, error: String(error) }, 'The embedded store could not tidy up')
    }
  }
}

function keptReceipt({ rejectedSpans }: Arrival): Receipt {
  if (rejectedSpans === 0) return { kind: 'kept', partialSuccess: undefined }
  const message = 'spans without trace id or span id belong to no trace'
  return { kind: 'kept', partialSuccess: { rejected: BigInt(rejectedSpans), message } }
}

const turnOfTheLoop = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
