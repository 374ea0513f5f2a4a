import { perSignal, type Signal } from '@penstock/otlp'
import type { Outstanding } from '../input/record-stream.ts'

/** Records which signals of one record have been accepted completely. Chunks are still being made while the first are being sent. */
export class Acceptance {
  readonly #outstanding: Outstanding
  /** The chunks that are not delivered yet. A failed chunk stays here, so its signal is never accepted. */
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

  /** Ends the list of chunks, and reports each signal that is accepted by then. A signal without chunks counts as accepted. */
  allMade(): void {
    this.#allMade = true
    for (const signal of this.#outstanding.signals) {
      if (this.#open[signal] === 0) this.#outstanding.accepted(signal)
    }
  }
}
