import { perSignal, type Signal, signalNames } from '@penstock/otlp'

/**
 * Which signals are still worth sending. Deliveries that share one stop together: what the answer to one chunk says of the
 * receiver holds for all.
 */
export class DeliveryStops {
  readonly #inUse: readonly Signal[]
  readonly #signals = perSignal(() => new AbortController())
  readonly #all = new AbortController()
  #reason: string | undefined

  /** Once all of `inUse` have stopped, everything has. */
  constructor(inUse: readonly Signal[] = signalNames) {
    this.#inUse = inUse
  }

  /** Aborts when nothing more of the signal is to be sent. */
  of(signal: Signal): AbortSignal {
    return this.#signals[signal].signal
  }

  /** Aborts when nothing more is to be sent at all: whoever makes chunks may leave off. */
  get all(): AbortSignal {
    return this.#all.signal
  }

  /** Why everything has stopped; undefined when it has not. */
  get reason(): string | undefined {
    return this.#reason
  }

  stop(signal: Signal, reason: string): void {
    this.#signals[signal].abort()
    if (this.#inUse.every((each) => this.of(each).aborted)) this.stopAll(reason)
  }

  stopAll(reason: string): void {
    this.#reason ??= reason
    for (const controller of Object.values(this.#signals)) controller.abort()
    this.#all.abort()
  }
}
