import type { Clock } from '@penstock/runtime'

/**
 * Wakes at the earliest of the times asked for, with one sleep for all of them; whoever is woken asks for the next.
 * Setting and clearing a timer per batch would cost more than the rest of its handling.
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
    this.#clock.sleep(atMs - this.#clock.nowMs(), sleep.signal).then(
      () => {
        if (this.#sleep === sleep) this.#wake()
      },
      // Aborted: an earlier time was asked for, or none any more.
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
