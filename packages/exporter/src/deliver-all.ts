import { setImmediate } from 'node:timers/promises'
import { type EncodedChunk, perSignal, type Signal } from '@penstock/otlp'
import { DeliveryStops } from './delivery-stops.ts'
import type { ChunkDelivery, OtlpEndpoint, SendOptions } from './otlp-endpoint.ts'
import { isComplete, noTotals, type SignalTotals, withChunk } from './signal-totals.ts'

export interface DeliverAllOptions {
  /** Chunks under way at once. Default 4; more than the client's connections only wait for one. */
  readonly concurrency?: number
  readonly signal?: AbortSignal | undefined
  /** For deliveries that stop together, and for sources that want to hear of it. Default: of all signals, and its own. */
  readonly stops?: DeliveryStops
  /** After every chunk that was sent, in the order in which they came to an end. */
  readonly onSettled?: (chunk: EncodedChunk, delivery: ChunkDelivery) => void
  readonly onRetry?: SendOptions['onRetry']
}

export interface DeliveryReport {
  readonly totals: Readonly<Record<Signal, SignalTotals>>
  /** Why the source was not read to its end; undefined when it was. */
  readonly stopped: string | undefined
  /** Every item of the source was accepted. */
  readonly complete: boolean
}

/** Bounded so that a source of any length takes the memory of a few chunks. */
const DEFAULT_CONCURRENCY = 4

/**
 * Delivers a source of chunks, `concurrency` at a time; no chunk is asked for before there is room for it.
 *
 * Chunks fail by themselves, unless going on makes no sense:
 * - a 401 ends the run, because every request carries the same credential;
 * - a 403 ends its signal, because a token may be good for traces alone;
 * - a chunk that ran out of time ends its signal when nothing else of it got through meanwhile: the receiver is down, and
 *   every further chunk would take as long to find out.
 * What is then under way is dropped, waits included. With no signal left the source is left too; one that is silent at that
 * moment is not waited for.
 *
 * The event loop gets a turn after every chunk, because making the next one takes a while.
 */
export async function deliverAll(
  endpoint: Pick<OtlpEndpoint, 'sendChunk'>,
  chunks: AsyncIterable<EncodedChunk> | Iterable<EncodedChunk>,
  options: DeliverAllOptions = {},
): Promise<DeliveryReport> {
  const run = new Run(endpoint, options)
  try {
    await run.drain(chunks)
  } finally {
    await run.end()
  }
  return run.report()
}

class Run {
  readonly #endpoint: Pick<OtlpEndpoint, 'sendChunk'>
  readonly #options: DeliverAllOptions
  readonly #concurrency: number
  readonly #totals = perSignal(noTotals)
  readonly #stops: DeliveryStops
  readonly #underWay = new Set<Promise<void>>()
  readonly #onAbort = () => this.#stops.stopAll('aborted')
  #bug: { readonly error: unknown } | undefined

  constructor(endpoint: Pick<OtlpEndpoint, 'sendChunk'>, options: DeliverAllOptions) {
    this.#endpoint = endpoint
    this.#options = options
    this.#concurrency = options.concurrency ?? DEFAULT_CONCURRENCY
    this.#stops = options.stops ?? new DeliveryStops()
    options.signal?.addEventListener('abort', this.#onAbort, { once: true })
    if (options.signal?.aborted) this.#onAbort()
  }

  async drain(chunks: AsyncIterable<EncodedChunk> | Iterable<EncodedChunk>): Promise<void> {
    const stop = this.#stops.all
    if (stop.aborted) return
    const source = Symbol.asyncIterator in chunks ? chunks[Symbol.asyncIterator]() : chunks[Symbol.iterator]()
    do {
      const step = await nextOrStop(source, stop)
      if (step === undefined || step.done) return
      this.#start(step.value)
      await setImmediate()
      while (this.#underWay.size >= this.#concurrency) await Promise.race(this.#underWay)
    } while (!stop.aborted)
    await source.return?.()
  }

  /** What is under way comes to its end even if the source has failed. */
  async end(): Promise<void> {
    await Promise.all(this.#underWay)
    this.#options.signal?.removeEventListener('abort', this.#onAbort)
    if (this.#bug) throw this.#bug.error
  }

  report(): DeliveryReport {
    const complete = Object.values(this.#totals).every(isComplete)
    const stopped = this.#stops.reason
    return { totals: this.#totals, stopped, complete: complete && stopped === undefined }
  }

  /** A bug must not become an unhandled rejection while the source is awaited. */
  #start(chunk: EncodedChunk): void {
    const sending = this.#deliver(chunk)
      .catch((error: unknown) => {
        this.#bug ??= { error }
        this.#stops.stopAll('internal error')
      })
      .finally(() => this.#underWay.delete(sending))
    this.#underWay.add(sending)
  }

  async #deliver(chunk: EncodedChunk): Promise<void> {
    const signal = this.#stops.of(chunk.signal)
    const before = this.#totals[chunk.signal]
    const { onRetry, onSettled } = this.#options
    const delivery = signal.aborted ? undefined : await this.#endpoint.sendChunk(chunk, { signal, onRetry })
    const totals = withChunk(this.#totals[chunk.signal], chunk, delivery)
    this.#totals[chunk.signal] = totals
    if (!delivery) return
    onSettled?.(chunk, delivery)
    const { outcome, status } = delivery
    if (outcome.kind === 'dead' && outcome.authentication) {
      if (status === 403) this.#stops.stop(chunk.signal, outcome.reason)
      else this.#stops.stopAll(outcome.reason)
    }
    if (outcome.kind === 'expired' && totals.deliveredItems === before.deliveredItems) {
      this.#stops.stop(chunk.signal, outcome.reason)
    }
  }
}

/**
 * What the source yields next, `undefined` when the stop comes first. A generator finishes what it is doing and is left then;
 * nobody waits for that, or hears of its errors.
 */
async function nextOrStop<T>(source: Source<T>, stop: AbortSignal): Promise<IteratorResult<T> | undefined> {
  let onStop = () => {}
  const stopped = new Promise<undefined>((resolve) => {
    onStop = () => resolve(undefined)
    stop.addEventListener('abort', onStop, { once: true })
  })
  try {
    const step = await Promise.race([source.next(), stopped])
    if (step === undefined) leave(source)
    return step
  } finally {
    stop.removeEventListener('abort', onStop)
  }
}

type Source<T> = AsyncIterator<T> | Iterator<T>

function leave(source: Source<unknown>): void {
  Promise.resolve(source.return?.()).catch(() => {})
}
