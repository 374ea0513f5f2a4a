import type { Clock } from '@penstock/runtime'

/**
 * Calls `onWake` at the earliest of the requested times, with a single timer. `onWake` must request the next time
 * itself. A timer per batch would cost more than all other work on the batch.
 */
export class Alarm {
  readonly #clock: Clock
  readonly #onWake: () => void
  #atMs = Number.POSITIVE_INFINITY
  #sleep: AbortController | undefined

  constructor(clock: Clock, onWake: () => void) {
    this.#clock = clock
    this.#onWake = onWake
  }

  wakeBy(atMs: number): void {
    if (atMs >= this.#atMs) return
    this.#sleep?.abort()
    const sleep = new AbortController()
    this.#sleep = sleep
    this.#atMs = atMs
    this.#clock.sleep(atMs - this.#clock.monotonicMs(), sleep.signal).then(
      () => {
        if (this.#sleep === sleep) this.#wake()
      },
      // The sleep was aborted by an earlier request or by `off`.
      () => {},
    )
  }

  off(): void {
    this.#sleep?.abort()
    this.#sleep = undefined
    this.#atMs = Number.POSITIVE_INFINITY
  }

  #wake(): void {
    this.#sleep = undefined
    this.#atMs = Number.POSITIVE_INFINITY
    this.#onWake()
  }
}
