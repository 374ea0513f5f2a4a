import { setImmediate } from 'node:timers/promises'
import type { Db } from '@penstock/db'
import { type DeliveryQueue, deliveriesWithin } from '@penstock/delivery'
import type { Clock } from '@penstock/runtime'
import type { Transaction } from 'kysely'
import type { DurableOptions } from '../options/durable-options.ts'
import type { ExportLimits } from '../options/export-limits.ts'
import type { IntakeRequest, IntakeResult } from '../records/intake-request.ts'
import type { ExporterTables } from '../store/export-tables.ts'
import { GroupCommit } from './group-commit.ts'
import { IntakeTransaction, toArrival } from './intake-transaction.ts'

type Tx = Transaction<ExporterTables>

interface RecordIntakeOptions {
  readonly db: Db<ExporterTables>
  readonly queue: DeliveryQueue
  /** The queue of runs that are to be read from the REST API of their forge. */
  readonly fetchQueue: DeliveryQueue
  readonly clock: Clock
  readonly optionsForScope: (scope: string) => DurableOptions
  readonly limits: ExportLimits
  /** Called with each result: by `enqueueShared` after the transaction, by `enqueue` within it. */
  readonly onResult: (result: IntakeResult) => void
  /** Called after a transaction that enqueued exports. */
  readonly onCommitted: () => void
}

/**
 * Accepts pipeline records and job hooks: resolves root pipelines, stores job enrichments, and enqueues exports, all in one
 * transaction.
 */
export class RecordIntake {
  readonly #options: RecordIntakeOptions
  readonly #group: GroupCommit<IntakeRequest, IntakeResult, ExporterTables>

  constructor(options: RecordIntakeOptions) {
    const { db, clock, limits } = options
    this.#options = options
    this.#group = new GroupCommit({
      db,
      work: (tx, requests) => this.#enqueueAll(tx, requests, clock.nowMs()),
      sizeOf: ({ body }) => body.text.length,
      limits,
    })
  }

  /**
   * Enqueues within the caller's transaction, which must roll back if this throws. Call `wake` on
   * the exporter after the commit.
   */
  async enqueue(tx: Tx, request: IntakeRequest, nowMs: number): Promise<IntakeResult> {
    const [result] = await this.#enqueueAll(tx, [request], nowMs)
    this.#options.onResult(result!)
    return result!
  }

  /**
   * Enqueues in a transaction shared with concurrent callers, and resolves when it is durable.
   *
   * @throws an error with `isUnavailable` if the database is unreachable or too many callers are waiting
   */
  async enqueueShared(request: IntakeRequest): Promise<IntakeResult> {
    const result = await this.#group.add(request)
    this.#options.onResult(result)
    if (result.kind === 'enqueued') this.#options.onCommitted()
    return result
  }

  /** Handles the requests one after another, and writes their rows with shared statements. */
  async #enqueueAll(tx: Tx, requests: readonly IntakeRequest[], nowMs: number): Promise<IntakeResult[]> {
    const { optionsForScope, queue, fetchQueue } = this.#options
    const arrivals = requests.map((request) => toArrival(request, optionsForScope(request.scope)))
    const transaction = new IntakeTransaction(tx, fetchQueue, nowMs)
    await transaction.load(arrivals)
    const results: IntakeResult[] = []
    for (const arrival of arrivals) results.push(await transaction.add(arrival))
    const added = await queue.enqueue(deliveriesWithin(tx), transaction.deliveries, nowMs)
    await transaction.write()
    for (const { keys, settleMs } of transaction.postponed) {
      const mostMs = settleMs * MOST_SETTLE_TIMES
      await queue.postpone(deliveriesWithin(tx), keys, { dueAtMs: nowMs + settleMs, mostMs })
    }
    // Inserting and committing 25 MB takes long, so the event loop gets a turn in between.
    if (requests.some(({ body }) => body.text.length > LARGE_CHARACTERS)) await setImmediate()
    if (added === transaction.deliveries.length) return results
    // Retention deleted the history of a pipeline that still has deliveries. Retrying each request alone shows which one.
    if (requests.length > 1) throw new Error('some requests of this group have been exported already')
    return added > 0 ? results : [{ ...alreadyExported, warnings: results[0]!.warnings }]
  }
}

/** A run waits at most this many times `settleMs`, however many job hooks arrive. */
const MOST_SETTLE_TIMES = 10
const LARGE_CHARACTERS = 1024 * 1024

const alreadyExported = {
  kind: 'kept',
  code: 'already_exported',
  reason: 'already exported, and still in the queue',
} as const
