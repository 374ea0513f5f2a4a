import type { Clock } from '@penstock/runtime'

/** One at a time, the others in the order in which they came, each for as long as it will wait. */
export class WaitingLine {
  readonly #clock: Clock
  readonly #most: number
  readonly #waiting: (() => void)[] = []
  #isTaken = false

  /** @param most that wait; one more is turned away at once */
  constructor(clock: Clock, most: number) {
    this.#clock = clock
    this.#most = most
  }

  get isEmpty(): boolean {
    return !this.#isTaken
  }

  /** True: it is one's turn, until `leave`. False: it did not come within `waitMs`. */
  async enter(waitMs: number): Promise<boolean> {
    if (!this.#isTaken) {
      this.#isTaken = true
      return true
    }
    if (this.#waiting.length >= this.#most) return false
    return new Promise((settle) => {
      const admitted = new AbortController()
      const admit = () => {
        admitted.abort()
        settle(true)
      }
      const giveUp = () => {
        this.#waiting.splice(this.#waiting.indexOf(admit), 1)
        settle(false)
      }
      this.#waiting.push(admit)
      this.#clock.sleep(waitMs, admitted.signal).then(
        () => !admitted.signal.aborted && giveUp(),
        () => {},
      )
    })
  }

  leave(): void {
    const next = this.#waiting.shift()
    if (next === undefined) this.#isTaken = false
    else next()
  }
}
