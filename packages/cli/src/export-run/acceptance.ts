import { perSignal, type Signal } from '@penstock/otlp'
import type { Outstanding } from '../input/record-stream.ts'

/**
 * Records which signals of one record have been accepted completely. The first chunks are sent while later ones are
 * still being created.
 */
export class Acceptance {
  readonly #outstanding: Outstanding
  /**
   * The number of chunks of each signal that are not delivered yet. It includes failed chunks, so their signal is never
   * accepted.
   */
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

  /**
   * Called when all chunks have been created. Reports each signal that is already accepted. A signal without chunks
   * is treated as accepted.
   */
  allMade(): void {
    this.#allMade = true
    for (const signal of this.#outstanding.signals) {
      if (this.#open[signal] === 0) this.#outstanding.accepted(signal)
    }
  }
}
