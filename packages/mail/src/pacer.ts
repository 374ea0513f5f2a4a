import type { Clock } from '@penstock/runtime'

/** How long the event loop is left to requests after a piece of work: `factor` times as long as the piece took. */
interface Pause {
  readonly factor: number
  readonly maxMs: number
}

/** The number of urgent pieces that run while another one waits. */
const URGENT_IN_A_ROW = 24

/**
 * Runs pieces of work one at a time, with a pause after each if needed, so that they take only a part of the event loop and of the
 * database. Urgent pieces come first, but every 25th piece is another one if one waits.
 */
export class Pacer {
  readonly #clock: Clock
  readonly #pauses: () => boolean
  readonly #urgent: (() => void)[] = []
  readonly #others: (() => void)[] = []
  readonly #hurry = new AbortController()
  #isTaken = false
  #urgentInARow = 0

  /** @param pauses tells, after a piece, whether a pause is needed */
  constructor(clock: Clock, pauses: () => boolean) {
    this.#clock = clock
    this.#pauses = pauses
  }

  async run<Result>(
    { isUrgent, pause }: { readonly isUrgent: boolean; readonly pause: Pause },
    work: () => Promise<Result>,
  ): Promise<Result> {
    if (this.#isTaken) await new Promise<void>((resolve) => (isUrgent ? this.#urgent : this.#others).push(resolve))
    this.#isTaken = true
    const beganNs = this.#clock.nowNs()
    try {
      return await work()
    } finally {
      void this.#passOn(pause, beganNs)
    }
  }

  /** Runs the remaining pieces without pauses. */
  hurry(): void {
    this.#hurry.abort()
  }

  async #passOn({ factor, maxMs }: Pause, beganNs: bigint): Promise<void> {
    const pauseMs = Math.min((Number(this.#clock.nowNs() - beganNs) / 1e6) * factor, maxMs)
    if (pauseMs >= 1 && this.#pauses()) await this.#clock.sleep(pauseMs, this.#hurry.signal).catch(() => {})
    const isUrgent = this.#urgent.length > 0 && (this.#urgentInARow < URGENT_IN_A_ROW || this.#others.length === 0)
    this.#urgentInARow = isUrgent ? this.#urgentInARow + 1 : 0
    const next = (isUrgent ? this.#urgent : this.#others).shift()
    if (next === undefined) this.#isTaken = false
    else next()
  }
}
