/** The burst that a rate allows: one second's worth. */
const BURST_MS = 1_000
/** Absorbs rounding errors; smaller than the resolution of a millisecond clock. */
const TOLERANCE_MS = 1e-6

/**
 * A token bucket that stores the time at which it would be full again:
 *
 *     now          fullAtMs            now + capacityMs
 *      | owed time |    free time       |
 *
 * Taking n units moves `fullAtMs` by n times the refill time of one unit. `atMs` must never go back.
 */
export class TokenBucket {
  #msPerUnit = 0
  #capacityMs = 0
  #fullAtMs: number

  /** Creates a bucket that holds one second's worth of this process' part of the rate. */
  constructor(perSecond: number, instances: number, atMs: number) {
    this.setRate(perSecond, instances)
    this.#fullAtMs = atMs + this.#capacityMs - BURST_MS
  }

  /** Sets the rate of all processes together; this bucket uses an equal part. Its capacity is at least one unit. */
  setRate(perSecond: number, instances: number): void {
    this.#msPerUnit = (1_000 * instances) / perSecond
    this.#capacityMs = Math.max(BURST_MS, this.#msPerUnit)
  }

  /**
   * Returns the whole milliseconds until `units` may be taken; 0 if they may be taken now. If `units` exceed the
   * capacity, returns the time until the bucket is full, because they could otherwise never be taken.
   */
  waitMs(units: number, atMs: number): number {
    const owedMs = Math.max(this.#fullAtMs - atMs, 0)
    const freeAfterwardsMs = Math.max(this.#capacityMs - units * this.#msPerUnit, 0)
    const missingMs = owedMs - freeAfterwardsMs
    return missingMs > TOLERANCE_MS ? Math.ceil(missingMs - TOLERANCE_MS / 2) : 0
  }

  /** Takes `units`, even if the bucket holds fewer. */
  take(units: number, atMs: number): void {
    this.#fullAtMs = Math.max(this.#fullAtMs, atMs) + units * this.#msPerUnit
  }
}
