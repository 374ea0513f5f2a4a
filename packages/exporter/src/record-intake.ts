import { setImmediate } from 'node:timers/promises'
import type { ConvertOptions, PipelineRecord, UpstreamPipeline, Warnings } from '@penstock/converter'
import type { Db } from '@penstock/db'
import type { DeliveryQueue, DeliveryTables } from '@penstock/delivery'
import type { Signal } from '@penstock/otlp'
import type { Clock } from '@penstock/runtime'
import type { Transaction } from 'kysely'
import { skipCauses } from './admission.ts'
import type { ExportLimits } from './export-limits.ts'
import type { ExporterTables } from './export-tables.ts'
import { GroupCommit } from './group-commit.ts'
import { arrivalOf, IntakeTransaction } from './intake-transaction.ts'
import type { ReceivedBody } from './received-body.ts'

type Tx = Transaction<ExporterTables>

/** Points of single runs are all that the durable export makes: running totals belong to one process, and to one endpoint. */
export type DurableOptions = ConvertOptions & { readonly metricsMode: 'per-run' }

export function isDurable(options: ConvertOptions): options is DurableOptions {
  return options.metricsMode === 'per-run'
}

export interface ExportPlan {
  readonly signals: readonly Signal[]
  /** What tells its endpoint and credential from others; no secret. */
  readonly destination: string
  readonly identity?: ExportIdentity | undefined
}

/** The parts of a pipeline's identity that its record alone does not contain, as in `PipelineRecord` and its `upstream`. */
export interface ExportIdentity extends Pick<PipelineRecord, 'instance'> {
  readonly upstream?: Pick<UpstreamPipeline, 'instance' | 'standing'> | undefined
}

export interface Received {
  /** Without blanks. What is learnt in one scope is not known in another. */
  readonly scope: string
  readonly body: ReceivedBody
  readonly receivedAtNs: bigint
  /** The scope of the upstream pipeline's project, if that is not `scope`; null if there is no such project. */
  readonly upstreamScope?: string | null | undefined
  /** Asked only when the pipeline is to be exported now. */
  readonly plan: (record: PipelineRecord) => Promise<ExportPlan>
}

export const keptCauses = [...skipCauses, 'job_hook', 'nothing_to_export'] as const
export type KeptCause = (typeof keptCauses)[number]

export type Taken =
  | { readonly kind: 'enqueued'; readonly signals: readonly Signal[]; readonly warnings: Warnings }
  /** No failure: there is nothing to export, or not yet, or not again. */
  | { readonly kind: 'kept'; readonly because: KeptCause; readonly reason: string; readonly warnings: Warnings }

export interface RecordIntakeOptions {
  readonly db: Db<ExporterTables>
  readonly queue: DeliveryQueue
  readonly clock: Clock
  readonly optionsOf: (scope: string) => DurableOptions
  readonly limits: ExportLimits
  /** Of `receive` after the transaction, of `take` within it. */
  readonly onTaken: (taken: Taken) => void
  /** There is something new to be sent. */
  readonly onCommitted: () => void
}

/**
 * Takes records and job hooks in: learns roots, keeps what job hooks tell, and enqueues what is to be exported, all in one
 * transaction.
 *
 * @see spec/pipeline-telemetry.md 2.5, 2.6
 */
export class RecordIntake {
  readonly #options: RecordIntakeOptions
  readonly #group: GroupCommit<Received, Taken, ExporterTables>

  constructor(options: RecordIntakeOptions) {
    const { db, clock, limits } = options
    this.#options = options
    this.#group = new GroupCommit({
      db,
      work: (tx, received) => this.#takeAll(tx, received, clock.nowMs()),
      sizeOf: ({ body }) => body.text.length,
      limits,
    })
  }

  /** In the caller's transaction; a failure has to end it. `wake` the exporter after its commit. */
  async take(tx: Tx, received: Received, nowMs: number): Promise<Taken> {
    const [taken] = await this.#takeAll(tx, [received], nowMs)
    this.#options.onTaken(taken!)
    return taken!
  }

  /**
   * In a transaction shared with whoever waits at the same time; resolves once it is durable.
   *
   * @throws an error that is `isUnavailable` when the database cannot be had, or too many wait
   */
  async receive(received: Received): Promise<Taken> {
    const taken = await this.#group.add(received)
    this.#options.onTaken(taken)
    if (taken.kind === 'enqueued') this.#options.onCommitted()
    return taken
  }

  /** One after another, with statements in common. */
  async #takeAll(tx: Tx, all: readonly Received[], nowMs: number): Promise<Taken[]> {
    const { optionsOf, queue } = this.#options
    const arrivals = all.map((received) => arrivalOf(received, optionsOf(received.scope)))
    const transaction = new IntakeTransaction(tx, nowMs)
    await transaction.load(arrivals)
    const taken: Taken[] = []
    for (const arrival of arrivals) taken.push(await transaction.take(arrival))
    const added = await queue.enqueue(tx as unknown as Transaction<DeliveryTables>, transaction.deliveries, nowMs)
    await transaction.write()
    // Inserting and committing 25 MB take long, so the event loop gets a turn in between.
    if (all.some(({ body }) => body.text.length > LARGE_CHARACTERS)) await setImmediate()
    if (added === transaction.deliveries.length) return taken
    // The ledger had forgotten a pipeline whose deliveries are still there. Which one shows when each is taken alone.
    if (all.length > 1) throw new Error('some of them have been exported already')
    return added > 0 ? taken : [{ ...alreadyExported, warnings: taken[0]!.warnings }]
  }
}

const LARGE_CHARACTERS = 1024 * 1024

const alreadyExported = {
  kind: 'kept',
  because: 'already_exported',
  reason: 'already exported, and still in the queue',
} as const
