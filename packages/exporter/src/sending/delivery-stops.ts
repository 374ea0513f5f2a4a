import { perSignal, type Signal, signalNames } from '@penstock/otlp'

/**
 * Tracks which signals are still worth sending. Deliveries that share an instance stop together, because what the reply to
 * one chunk says about the receiver is true for all.
 */
export class DeliveryStops {
  readonly #inUse: readonly Signal[]
  readonly #signals = perSignal(() => new AbortController())
  readonly #all = new AbortController()
  #reason: string | undefined

  /** @param inUse the signals that are sent; when all of them have stopped, everything stops */
  constructor(inUse: readonly Signal[] = signalNames) {
    this.#inUse = inUse
  }

  /** Returns a signal that aborts when no more chunks of this OTLP signal are to be sent. */
  signalFor(signal: Signal): AbortSignal {
    return this.#signals[signal].signal
  }

  /** A signal that aborts when nothing more is to be sent, so that chunks need not be produced any more. */
  get all(): AbortSignal {
    return this.#all.signal
  }

  /** The reason why everything has stopped; undefined if it has not. */
  get reason(): string | undefined {
    return this.#reason
  }

  stop(signal: Signal, reason: string): void {
    this.#signals[signal].abort()
    if (this.#inUse.every((each) => this.signalFor(each).aborted)) this.stopAll(reason)
  }

  stopAll(reason: string): void {
    this.#reason ??= reason
    for (const controller of Object.values(this.#signals)) controller.abort()
    this.#all.abort()
  }
}
