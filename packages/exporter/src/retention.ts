import { setImmediate } from 'node:timers/promises'
import type { Db } from '@penstock/db'
import type { DeliveryQueue } from '@penstock/delivery'
import type { Clock } from '@penstock/runtime'
import type { ExportLimits } from './export-limits.ts'
import type { ExporterTables } from './export-tables.ts'
import { deleteJobNewsBefore } from './job-hook-store.ts'
import { deletePipelinesBefore } from './pipeline-ledger-store.ts'
import { deleteDoneRecords, type RecordPlace } from './record-store.ts'

export interface RetentionOptions {
  readonly db: Db<ExporterTables>
  readonly queue: Pick<DeliveryQueue, 'prune'>
  readonly clock: Clock
  readonly limits: Pick<ExportLimits, 'keepDeliveredMs' | 'keepDeadMs' | 'keepPipelinesMs' | 'keepJobHooksMs'>
  /** Of one transaction, and transactions of one kind in one round. */
  readonly rows?: number
  readonly steps?: number
}

const ROWS = 500
const STEPS = 200
const beginning: RecordPlace = { enqueuedAtMs: 0, key: '' }

/** Forgets what is old, in small transactions, between which others write. */
export class Retention {
  readonly #options: RetentionOptions
  readonly #rows: number
  readonly #steps: number
  /** Records that cannot go yet are passed over in turn. */
  #place = beginning

  constructor(options: RetentionOptions) {
    this.#options = options
    this.#rows = options.rows ?? ROWS
    this.#steps = options.steps ?? STEPS
  }

  async round(signal?: AbortSignal): Promise<void> {
    const { db, queue, clock, limits } = this.#options
    const { keepDeliveredMs, keepDeadMs, keepPipelinesMs, keepJobHooksMs } = limits
    const nowMs = clock.nowMs()
    const rows = this.#rows
    const kinds = [
      () => queue.prune(nowMs - keepDeliveredMs, rows),
      () => queue.prune(nowMs - keepDeadMs, rows, 'dead'),
      () => db.write((tx) => deletePipelinesBefore(tx, nowMs - keepPipelinesMs, rows)),
      () => db.write((tx) => deleteJobNewsBefore(tx, nowMs - keepJobHooksMs, rows)),
    ]
    for (const step of kinds) {
      for (let steps = 0; steps < this.#steps && !signal?.aborted; steps += 1) {
        const deleted = await step()
        // SQLite answers at once: a whole round would pass before anybody else had a turn.
        await setImmediate()
        if (deleted < rows) break
      }
    }
    await this.#sweepRecords(nowMs - Math.min(keepDeliveredMs, keepDeadMs), signal)
  }

  async #sweepRecords(beforeMs: number, signal: AbortSignal | undefined): Promise<void> {
    for (let steps = 0; steps < this.#steps && !signal?.aborted; steps += 1) {
      const after = this.#place
      const next = await this.#options.db.write((tx) => deleteDoneRecords(tx, { after, beforeMs, limit: this.#rows }))
      this.#place = next ?? beginning
      await setImmediate()
      if (next === undefined) return
    }
  }
}
