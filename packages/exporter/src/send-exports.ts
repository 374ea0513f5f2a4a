import { createHash } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import type { Attempt, ClaimedDelivery, Outcome, Send } from '@penstock/delivery'
import { type EncodedChunk, joinChunks } from '@penstock/otlp'
import type { Clock } from '@penstock/runtime'
import type { ChunkAttempt, OtlpEndpoint } from './otlp-endpoint.ts'

/** One signal of one record, ready to go. Chunks are made as they are asked for, the same ones in the same order each time. */
export interface PlannedExport {
  /** The same object for everything that goes to one URL with one token: such exports may share a request. */
  readonly endpoint: Pick<OtlpEndpoint, 'tryChunk'>
  readonly chunks: Iterable<EncodedChunk>
}

export interface SendExportsOptions {
  /** What is to be sent now, by the delivery's subject; a text says why that will not be possible. */
  readonly plan: (subject: string) => Promise<PlannedExport | string>
  /** Keeps the claim for longer, and what has been accepted in case this process ends. `false`: the claim is lost. */
  readonly keepProgress: (delivery: ClaimedDelivery, progress: string) => Promise<boolean>
  readonly clock: Clock
  /** Nothing more is sent so long after the claim; what is left is given back. */
  readonly budgetMs: number
  /** Of one request that several exports share, before compression. */
  readonly maxSharedBytes: number
  /** After each request. */
  readonly onAttempt?: (attempt: ChunkAttempt, exports: readonly ClaimedDelivery[], chunk: EncodedChunk) => void
  /** A bug, or a database that is not to be had: the export it befell is tried again, and takes nobody with it. */
  readonly onTrouble: (error: unknown) => void
}

interface Prepared extends PlannedExport {
  /** Undefined when there is nothing to send. */
  readonly first: EncodedChunk | undefined
  readonly isLarge: boolean
}

interface Small {
  readonly delivery: ClaimedDelivery
  readonly chunk: EncodedChunk
}

/**
 * Converts and sends the exports of a batch. Those of one chunk share requests where they go to one endpoint; one that makes its
 * request unacceptable is found by halving it. Larger ones go chunk by chunk, and what was accepted is not sent again.
 *
 * @see spec/pipeline-telemetry.md 2.6, 6.2, 6.3
 */
export function sendExports(options: SendExportsOptions): Send {
  return async (batch, signal) => {
    const run = new BatchRun(options, signal)
    for (const delivery of batch) {
      if (!run.maySend) break
      await run.start(delivery)
    }
    await run.sendRest()
    return batch.map((delivery) => run.attempts.get(delivery))
  }
}

class BatchRun {
  readonly attempts = new Map<ClaimedDelivery, Attempt>()
  readonly #options: SendExportsOptions
  readonly #signal: AbortSignal
  readonly #untilMs: number
  /** An endpoint that has to be left alone: what else was meant for it waits. */
  readonly #shut = new Set<PlannedExport['endpoint']>()
  /** What will share the next request to each endpoint. */
  readonly #groups = new Map<PlannedExport['endpoint'], Small[]>()

  constructor(options: SendExportsOptions, signal: AbortSignal) {
    this.#options = options
    this.#signal = signal
    this.#untilMs = options.clock.nowMs() + options.budgetMs
  }

  get maySend(): boolean {
    return !this.#signal.aborted && this.#options.clock.nowMs() < this.#untilMs
  }

  conclude(delivery: ClaimedDelivery, outcome: Outcome, progress = ''): void {
    this.attempts.set(delivery, { outcome, progress })
  }

  /** Sends it, or keeps it for a request that it shares. */
  async start(delivery: ClaimedDelivery): Promise<void> {
    const prepared = await this.#prepare(delivery)
    if ('kind' in prepared) {
      this.conclude(delivery, prepared, delivery.progress)
      return
    }
    const { endpoint, first, isLarge } = prepared
    if (this.#shut.has(endpoint)) return
    if (first === undefined)
      this.conclude(delivery, { kind: 'delivered', rejectedItems: 0, message: 'nothing to send', isOurs: true })
    else if (isLarge || delivery.progress !== '') {
      // Those before it would wait for all of its chunks, and for those of the next large one as well.
      await this.#sendGathered(endpoint)
      await this.#sendLarge(delivery, prepared)
    } else await this.#addSmall(endpoint, { delivery, chunk: first })
  }

  async #prepare({ subject }: ClaimedDelivery): Promise<Prepared | Outcome> {
    try {
      const planned = await this.#options.plan(subject)
      if (typeof planned === 'string') return { kind: 'dead', reason: planned, authentication: false, isOurs: true }
      const { endpoint, chunks } = planned
      const begun = chunks[Symbol.iterator]()
      const [first, second] = [begun.next(), begun.next()]
      return { endpoint, chunks, first: first.done ? undefined : first.value, isLarge: !second.done }
    } catch (error) {
      return this.#interrupted(error)
    }
  }

  /** Whatever was being sent may have arrived. */
  #interrupted(error: unknown): Outcome {
    this.#options.onTrouble(error)
    return interrupted
  }

  async sendRest(): Promise<void> {
    for (const endpoint of [...this.#groups.keys()]) await this.#sendGathered(endpoint)
  }

  async #sendGathered(endpoint: PlannedExport['endpoint']): Promise<void> {
    const group = this.#groups.get(endpoint)
    this.#groups.delete(endpoint)
    if (group !== undefined) await this.#sendGroup(endpoint, group)
  }

  /** In their order, each request within the limit, or with one alone. JSON cannot be joined without reading it. */
  async #addSmall(endpoint: PlannedExport['endpoint'], small: Small): Promise<void> {
    const group = this.#groups.get(endpoint) ?? []
    const bytes = [...group, small].reduce((sum, { chunk }) => sum + chunk.body.length, 0)
    const fits = group.length === 0 || (bytes <= this.#options.maxSharedBytes && small.chunk.encoding !== 'json')
    this.#groups.set(endpoint, fits ? [...group, small] : [small])
    if (!fits) await this.#sendGroup(endpoint, group)
  }

  /** An item that is refused for what it is takes nobody with it. */
  async #sendGroup(endpoint: PlannedExport['endpoint'], group: readonly Small[]): Promise<void> {
    const deliveries = group.map(({ delivery }) => delivery)
    const outcome = await this.#tryGroup(endpoint, group, deliveries)
    if (outcome === undefined) return
    if (outcome.kind === 'dead' && !outcome.authentication && !outcome.isOurs && group.length > 1) {
      const middle = Math.ceil(group.length / 2)
      await this.#sendGroup(endpoint, group.slice(0, middle))
      await this.#sendGroup(endpoint, group.slice(middle))
      // Where the time is over, the search counts as an attempt: given back as if unsent, it would begin anew for ever.
      const { reason } = outcome
      for (const delivery of deliveries.filter((each) => !this.attempts.has(each))) {
        this.conclude(delivery, { kind: 'retry', retryAfterMs: 0, reason })
      }
      return
    }
    for (const delivery of deliveries) this.conclude(delivery, shared(outcome, group.length))
  }

  async #tryGroup(
    endpoint: PlannedExport['endpoint'],
    group: readonly Small[],
    deliveries: readonly ClaimedDelivery[],
  ): Promise<Outcome | undefined> {
    try {
      return await this.#try(endpoint, joinChunks(group.map(({ chunk }) => chunk)), deliveries)
    } catch (error) {
      return this.#interrupted(error)
    }
  }

  async #sendLarge(delivery: ClaimedDelivery, { endpoint, chunks }: PlannedExport): Promise<void> {
    const accepted = new Set(delivery.progress === '' ? [] : delivery.progress.split(' '))
    const told: { rejectedItems: number; message: string } = { rejectedItems: 0, message: '' }
    let isSent = false
    const progress = () => [...accepted].join(' ')
    try {
      for (const chunk of chunks) {
        const digest = digestOf(chunk)
        if (accepted.has(digest)) {
          // Nothing else is awaited while those are made that go nowhere.
          await setImmediate()
          continue
        }
        const outcome = await this.#try(endpoint, chunk, [delivery])
        if (outcome === undefined) return
        isSent = true
        if (outcome.kind !== 'delivered') {
          this.conclude(delivery, outcome, progress())
          return
        }
        accepted.add(digest)
        told.rejectedItems += outcome.rejectedItems
        told.message ||= outcome.message
        // Not ours any more: whoever has it now will see to the rest.
        if (!(await this.#options.keepProgress(delivery, progress()))) return
      }
      this.conclude(delivery, { kind: 'delivered', ...told, ...(!isSent && { isOurs: true }) })
    } catch (error) {
      this.conclude(delivery, this.#interrupted(error), progress())
    }
  }

  /** `undefined`: not sent, or given up because the process ends; the queue will offer it again. */
  async #try(
    endpoint: PlannedExport['endpoint'],
    chunk: EncodedChunk,
    deliveries: readonly ClaimedDelivery[],
  ): Promise<Outcome | undefined> {
    if (!this.maySend || this.#shut.has(endpoint)) return undefined
    const attempt = await endpoint.tryChunk(chunk)
    this.#options.onAttempt?.(attempt, deliveries, chunk)
    const { outcome } = attempt
    if (outcome.kind === 'retry' || (outcome.kind === 'dead' && outcome.authentication)) this.#shut.add(endpoint)
    return outcome
  }
}

const interrupted: Outcome = { kind: 'retry', retryAfterMs: 0, reason: 'internal error', isOurs: true }

/** Which of them the rejected items belong to is not known. */
function shared(outcome: Outcome, count: number): Outcome {
  if (outcome.kind !== 'delivered' || outcome.rejectedItems === 0 || count === 1) return outcome
  return { ...outcome, message: `of ${count} exports in one request: ${outcome.message}` }
}

const DIGEST_CHARACTERS = 22

/** Tells chunks apart without keeping them; of a record that converts differently by now nothing is skipped. */
function digestOf({ body }: EncodedChunk): string {
  return createHash('sha256').update(body).digest('base64url').slice(0, DIGEST_CHARACTERS)
}
