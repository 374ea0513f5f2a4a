import { perSignal, type Signal } from '@penstock/otlp'
import type { Outstanding } from './record-stream.ts'

/** Which signals of one record have been accepted in full: chunks are still being made while the first are under way. */
export class Acceptance {
  readonly #outstanding: Outstanding
  /** Chunks without a delivery; one that has failed stays, and so its signal is never accepted. */
  readonly #open = perSignal(() => 0)
  #allMade = false

  constructor(outstanding: Outstanding) {
    this.#outstanding = outstanding
  }

  made(signal: Signal): void {
    this.#open[signal] += 1
  }

  delivered(signal: Signal): void {
    this.#open[signal] -= 1
    if (this.#allMade && this.#open[signal] === 0) this.#outstanding.accepted(signal)
  }

  /** A signal of which there is nothing to send counts as accepted. */
  allMade(): void {
    this.#allMade = true
    for (const signal of this.#outstanding.signals) {
      if (this.#open[signal] === 0) this.#outstanding.accepted(signal)
    }
  }
}
