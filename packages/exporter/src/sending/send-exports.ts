import { createHash } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import type { Attempt, ClaimedDelivery, Outcome, Send } from '@penstock/delivery'
import { type EncodedChunk, joinChunks } from '@penstock/otlp'
import type { Clock } from '@penstock/runtime'
import type { ChunkAttempt, OtlpEndpoint } from './otlp-endpoint.ts'

/** One signal of one record, ready to be sent. Each iteration produces the same chunks in the same order, on demand. */
export interface PlannedExport {
  /** The same object for all exports to one URL with one token; these may share a request. */
  readonly endpoint: Pick<OtlpEndpoint, 'tryChunk'>
  readonly chunks: Iterable<EncodedChunk>
}

export interface SendExportsOptions {
  /** Plans the export of a delivery's subject, or returns the reason why it cannot be sent. */
  readonly plan: (subject: string) => Promise<PlannedExport | string>
  /**
   * Extends the claim, and stores which chunks were accepted in case this process ends.
   * Returns `false` if the claim is lost.
   */
  readonly saveProgress: (delivery: ClaimedDelivery, progress: string) => Promise<boolean>
  readonly clock: Clock
  /**
   * The time after the claim during which requests may be started; if no request of a delivery was started by then, it
   * is returned to the queue.
   */
  readonly budgetMs: number
  /** The size limit of a request that several exports share, before compression. */
  readonly maxSharedBytes: number
  /** Called after each request. */
  readonly onAttempt?: (attempt: ChunkAttempt, exports: readonly ClaimedDelivery[], chunk: EncodedChunk) => void
  /** Called for a bug or an unreachable database. Only the export that caused it is tried again; the others continue. */
  readonly onError: (error: unknown) => void
}

interface PreparedExport extends PlannedExport {
  /** Undefined if there is nothing to send. */
  readonly first: EncodedChunk | undefined
  readonly isLarge: boolean
}

interface SmallExport {
  readonly delivery: ClaimedDelivery
  readonly chunk: EncodedChunk
}

/**
 * Converts and sends the exports of a batch. Exports that consist of a single chunk share requests to the same
 * endpoint. If such a request is refused, it is halved until the export at fault is found. Larger exports are sent
 * chunk by chunk, and accepted chunks are not sent again.
 */
export function sendExports(options: SendExportsOptions): Send {
  return async (batch, signal) => {
    const run = new BatchRun(options, signal)
    for (const delivery of batch) {
      if (!run.canSend) break
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
  /** Endpoints that are down or refuse the credential; further exports to them wait. */
  readonly #closedEndpoints = new Set<PlannedExport['endpoint']>()
  /** The exports that will share the next request, by endpoint. */
  readonly #groups = new Map<PlannedExport['endpoint'], SmallExport[]>()

  constructor(options: SendExportsOptions, signal: AbortSignal) {
    this.#options = options
    this.#signal = signal
    this.#untilMs = options.clock.monotonicMs() + options.budgetMs
  }

  get canSend(): boolean {
    return !this.#signal.aborted && this.#options.clock.monotonicMs() < this.#untilMs
  }

  conclude(delivery: ClaimedDelivery, outcome: Outcome, progress = ''): void {
    this.attempts.set(delivery, { outcome, progress })
  }

  /** Sends an export, or adds it to a shared request. */
  async start(delivery: ClaimedDelivery): Promise<void> {
    const prepared = await this.#prepare(delivery)
    if ('kind' in prepared) {
      this.conclude(delivery, prepared, delivery.progress)
      return
    }
    const { endpoint, first, isLarge } = prepared
    if (this.#closedEndpoints.has(endpoint)) return
    if (first === undefined)
      this.conclude(delivery, { kind: 'delivered', rejectedItems: 0, message: 'nothing to send', isLocal: true })
    else if (isLarge || delivery.progress !== '') {
      // Sent first, so that the gathered exports do not wait for all chunks of this one and of the next large one.
      await this.#sendGathered(endpoint)
      await this.#sendLarge(delivery, prepared)
    } else await this.#addSmall(endpoint, { delivery, chunk: first })
  }

  async #prepare({ subject }: ClaimedDelivery): Promise<PreparedExport | Outcome> {
    try {
      const planned = await this.#options.plan(subject)
      if (typeof planned === 'string') return { kind: 'dead', reason: planned, authentication: false, isLocal: true }
      const { endpoint, chunks } = planned
      const begun = chunks[Symbol.iterator]()
      const [first, second] = [begun.next(), begun.next()]
      return { endpoint, chunks, first: first.done ? undefined : first.value, isLarge: !second.done }
    } catch (error) {
      return this.#interrupted(error)
    }
  }

  /** Returns the outcome after an internal error: a retry, because the request may or may not have arrived. */
  #interrupted(error: unknown): Outcome {
    this.#options.onError(error)
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

  /**
   * Adds an export to the shared request of its endpoint. If the request is full, it is sent first. JSON exports share
   * no requests, because JSON bodies cannot be joined without parsing them.
   */
  async #addSmall(endpoint: PlannedExport['endpoint'], small: SmallExport): Promise<void> {
    const group = this.#groups.get(endpoint) ?? []
    const bytes = [...group, small].reduce((sum, { chunk }) => sum + chunk.body.length, 0)
    const fits = group.length === 0 || (bytes <= this.#options.maxSharedBytes && small.chunk.encoding !== 'json')
    this.#groups.set(endpoint, fits ? [...group, small] : [small])
    if (!fits) await this.#sendGroup(endpoint, group)
  }

  /**
   * Sends a shared request. If it is refused for its content, each half is sent separately, so that
   * only the export at fault fails.
   */
  async #sendGroup(endpoint: PlannedExport['endpoint'], group: readonly SmallExport[]): Promise<void> {
    const deliveries = group.map(({ delivery }) => delivery)
    const outcome = await this.#tryGroup(endpoint, group, deliveries)
    if (outcome === undefined) return
    if (outcome.kind === 'dead' && !outcome.authentication && !outcome.isLocal && group.length > 1) {
      const middle = Math.ceil(group.length / 2)
      await this.#sendGroup(endpoint, group.slice(0, middle))
      await this.#sendGroup(endpoint, group.slice(middle))
      // If the time is over, the search is treated as an attempt. Returned as unsent, it would
      // start from the beginning for ever.
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
    group: readonly SmallExport[],
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
    const summary: { rejectedItems: number; message: string } = { rejectedItems: 0, message: '' }
    let isSent = false
    const progress = () => [...accepted].join(' ')
    try {
      for (const chunk of chunks) {
        const digest = chunkDigest(chunk)
        if (accepted.has(digest)) {
          // Skipped chunks await nothing else, so the event loop gets a turn here.
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
        summary.rejectedItems += outcome.rejectedItems
        summary.message ||= outcome.message
        // The claim is lost, and another process sends the rest.
        if (!(await this.#options.saveProgress(delivery, progress()))) return
      }
      this.conclude(delivery, { kind: 'delivered', ...summary, ...(!isSent && { isLocal: true }) })
    } catch (error) {
      this.conclude(delivery, this.#interrupted(error), progress())
    }
  }

  /** Sends one request. Returns `undefined` if it was not sent because of the time, a shutdown or a closed endpoint. */
  async #try(
    endpoint: PlannedExport['endpoint'],
    chunk: EncodedChunk,
    deliveries: readonly ClaimedDelivery[],
  ): Promise<Outcome | undefined> {
    if (!this.canSend || this.#closedEndpoints.has(endpoint)) return undefined
    const attempt = await endpoint.tryChunk(chunk)
    this.#options.onAttempt?.(attempt, deliveries, chunk)
    const { outcome } = attempt
    if (outcome.kind === 'retry' || (outcome.kind === 'dead' && outcome.authentication))
      this.#closedEndpoints.add(endpoint)
    return outcome
  }
}

const interrupted: Outcome = { kind: 'retry', retryAfterMs: 0, reason: 'internal error', isLocal: true }

/**
 * Returns the outcome for one export of a shared request; the reply does not say which
 * export the rejected items belong to.
 */
function shared(outcome: Outcome, count: number): Outcome {
  if (outcome.kind !== 'delivered' || outcome.rejectedItems === 0 || count === 1) return outcome
  return { ...outcome, message: `of ${count} exports in one request: ${outcome.message}` }
}

const DIGEST_CHARACTERS = 22

/**
 * Returns a digest that identifies a chunk. If a record is converted differently by now, its digests
 * differ and nothing is skipped.
 */
function chunkDigest({ body }: EncodedChunk): string {
  return createHash('sha256').update(body).digest('base64url').slice(0, DIGEST_CHARACTERS)
}
