import type { Clock } from '@penstock/runtime'

/** An exclusive lock that is granted in the order of the calls. */
export class FifoLock {
  readonly #clock: Clock
  readonly #maxWaiting: number
  readonly #waiting: (() => void)[] = []
  #isHeld = false

  /** @param maxWaiting the limit of waiting callers; further ones are rejected immediately */
  constructor(clock: Clock, maxWaiting: number) {
    this.#clock = clock
    this.#maxWaiting = maxWaiting
  }

  get isFree(): boolean {
    return !this.#isHeld
  }

  /**
   * Returns true once the lock is acquired; the caller must then release it. Returns false if the lock is not acquired
   * within `waitMs`.
   */
  async acquire(waitMs: number): Promise<boolean> {
    if (!this.#isHeld) {
      this.#isHeld = true
      return true
    }
    if (this.#waiting.length >= this.#maxWaiting) return false
    return new Promise((settle) => {
      const granted = new AbortController()
      const grant = () => {
        granted.abort()
        settle(true)
      }
      const giveUp = () => {
        this.#waiting.splice(this.#waiting.indexOf(grant), 1)
        settle(false)
      }
      this.#waiting.push(grant)
      this.#clock.sleep(waitMs, granted.signal).then(
        () => !granted.signal.aborted && giveUp(),
        () => {},
      )
    })
  }

  release(): void {
    const next = this.#waiting.shift()
    if (next === undefined) this.#isHeld = false
    else next()
  }
}
