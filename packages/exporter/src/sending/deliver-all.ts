import { setImmediate } from 'node:timers/promises'
import { type EncodedChunk, perSignal, type Signal } from '@penstock/otlp'
import { DeliveryStops } from './delivery-stops.ts'
import type { ChunkDelivery, OtlpEndpoint, SendOptions } from './otlp-endpoint.ts'
import { isComplete, noTotals, type SignalTotals, withChunk } from './signal-totals.ts'

export interface DeliverAllOptions {
  /**
   * The number of chunks sent at the same time. Default 4. A number above that of the client's connections has no
   * further effect.
   */
  readonly concurrency?: number
  readonly signal?: AbortSignal | undefined
  /**
   * Decides when these deliveries stop. Deliveries that must stop together, and the sources of their chunks, share one
   * instance. Default: a new one for all signals.
   */
  readonly stops?: DeliveryStops
  /** Called after every chunk that was sent, in the order in which the deliveries end. */
  readonly onSettled?: (chunk: EncodedChunk, delivery: ChunkDelivery) => void
  readonly onRetry?: SendOptions['onRetry']
}

export interface DeliveryReport {
  readonly totals: Readonly<Record<Signal, SignalTotals>>
  /** The reason why the source was not read to its end; undefined if it was. */
  readonly stopped: string | undefined
  /** Whether every item of the source was accepted. */
  readonly complete: boolean
}

/** The limit keeps the memory at a few chunks for a source of any length. */
const DEFAULT_CONCURRENCY = 4

/**
 * Delivers the chunks of a source, `concurrency` at a time. The source is asked for a chunk only when there is room for it.
 *
 * A failed chunk does not affect the others, except:
 * - a 401 ends the run, because every request carries the same credential;
 * - a 403 ends its signal, because a token may be valid for traces only;
 * - a chunk that ran out of time ends its signal if no other chunk of the signal was delivered in this time: the receiver is
 *   down, and every further chunk would take as long to fail.
 * Requests and waits in progress are then aborted. When no signal is left, the source is closed, without waiting for its
 * next chunk.
 *
 * The event loop gets a turn after every chunk, because producing the next one takes a while.
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
  readonly #inProgress = new Set<Promise<void>>()
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
      while (this.#inProgress.size >= this.#concurrency) await Promise.race(this.#inProgress)
    } while (!stop.aborted)
    await source.return?.()
  }

  /** Waits for deliveries in progress, even if the source has failed. */
  async end(): Promise<void> {
    await Promise.all(this.#inProgress)
    this.#options.signal?.removeEventListener('abort', this.#onAbort)
    if (this.#bug) throw this.#bug.error
  }

  report(): DeliveryReport {
    const complete = Object.values(this.#totals).every(isComplete)
    const stopped = this.#stops.reason
    return { totals: this.#totals, stopped, complete: complete && stopped === undefined }
  }

  /**
   * Starts a delivery and keeps its error for `end`: a bug must not become an unhandled
   * rejection while the source is awaited.
   */
  #start(chunk: EncodedChunk): void {
    const sending = this.#deliver(chunk)
      .catch((error: unknown) => {
        this.#bug ??= { error }
        this.#stops.stopAll('internal error')
      })
      .finally(() => this.#inProgress.delete(sending))
    this.#inProgress.add(sending)
  }

  async #deliver(chunk: EncodedChunk): Promise<void> {
    const signal = this.#stops.signalFor(chunk.signal)
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
 * Returns the next step of the source, or `undefined` if the stop comes first. In that case the generator is closed when its
 * current step ends; nothing waits for that, and its errors are ignored.
 */
async function nextOrStop<T>(source: Source<T>, stop: AbortSignal): Promise<IteratorResult<T> | undefined> {
  let onStop = () => {}
  const stopped = new Promise<undefined>((resolve) => {
    onStop = () => resolve(undefined)
    stop.addEventListener('abort', onStop, { once: true })
  })
  try {
    const step = await Promise.race([source.next(), stopped])
    if (step === undefined) closeSource(source)
    return step
  } finally {
    stop.removeEventListener('abort', onStop)
  }
}

type Source<T> = AsyncIterator<T> | Iterator<T>

function closeSource(source: Source<unknown>): void {
  Promise.resolve(source.return?.()).catch(() => {})
}
