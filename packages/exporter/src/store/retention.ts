import { setImmediate } from 'node:timers/promises'
import type { Db } from '@penstock/db'
import type { DeliveryQueue } from '@penstock/delivery'
import type { Clock } from '@penstock/runtime'
import type { ExportLimits } from '../options/export-limits.ts'
import { deletePipelinesBefore } from './export-history-store.ts'
import type { ExporterTables } from './export-tables.ts'
import { deleteJobEnrichmentsBefore } from './job-hook-store.ts'
import { deleteFinishedRecords, type RecordCursor } from './record-store.ts'

interface RetentionOptions {
  readonly db: Db<ExporterTables>
  readonly queue: Pick<DeliveryQueue, 'prune'>
  readonly clock: Clock
  readonly limits: Pick<ExportLimits, 'keepDeliveredMs' | 'keepDeadMs' | 'keepPipelinesMs' | 'keepJobHooksMs'>
  /** The highest number of rows that one transaction deletes. */
  readonly rows?: number
  /** The highest number of transactions per table and round. */
  readonly steps?: number
}

const ROWS = 500
const STEPS = 200
const beginning: RecordCursor = { enqueuedAtMs: 0, key: '' }

/** Deletes expired rows, in small transactions so that other writers get their turn in between. */
export class Retention {
  readonly #options: RetentionOptions
  readonly #rows: number
  readonly #steps: number
  /** The position of the sweep: records that cannot be deleted yet are skipped, so the next step begins behind them. */
  #place = beginning

  constructor(options: RetentionOptions) {
    this.#options = options
    this.#rows = options.rows ?? ROWS
    this.#steps = options.steps ?? STEPS
  }

  /** Deletes expired rows of every table, up to the limits of one round. */
  async round(signal?: AbortSignal): Promise<void> {
    const { db, queue, clock, limits } = this.#options
    const { keepDeliveredMs, keepDeadMs, keepPipelinesMs, keepJobHooksMs } = limits
    const nowMs = clock.nowMs()
    const rows = this.#rows
    const kinds = [
      () => queue.prune(nowMs - keepDeliveredMs, rows),
      () => queue.prune(nowMs - keepDeadMs, rows, 'dead'),
      () => db.write((tx) => deletePipelinesBefore(tx, nowMs - keepPipelinesMs, rows)),
      () => db.write((tx) => deleteJobEnrichmentsBefore(tx, nowMs - keepJobHooksMs, rows)),
    ]
    for (const step of kinds) {
      for (let steps = 0; steps < this.#steps && !signal?.aborted; steps += 1) {
        const deleted = await step()
        // SQLite calls complete without leaving the event loop, so other work would have to wait for the whole round.
        await setImmediate()
        if (deleted < rows) break
      }
    }
    await this.#sweepRecords(nowMs - Math.min(keepDeliveredMs, keepDeadMs), signal)
  }

  async #sweepRecords(beforeMs: number, signal: AbortSignal | undefined): Promise<void> {
    for (let steps = 0; steps < this.#steps && !signal?.aborted; steps += 1) {
      const after = this.#place
      const next = await this.#options.db.write((tx) =>
        deleteFinishedRecords(tx, { after, beforeMs, limit: this.#rows }),
      )
      this.#place = next ?? beginning
      await setImmediate()
      if (next === undefined) return
    }
  }
}
