/** One second's worth may come at once. */
const BURST_MS = 1_000
/** Below what any clock of milliseconds shows; takes up rounding. */
const TOLERANCE_MS = 1e-6

/**
 * A rate, as the time until its bucket would be full again:
 *
 *     now          fullAtMs            now + capacityMs
 *      | owed time |    free time       |
 *
 * Taking n units moves `fullAtMs` by n times the time one unit takes to flow in. Time is given, and never goes back.
 */
export class TokenBucket {
  #msPerUnit = 0
  #capacityMs = 0
  #fullAtMs: number

  /** Starts with one second's worth of this process' part. */
  constructor(perSecond: number, instances: number, atMs: number) {
    this.setRate(perSecond, instances)
    this.#fullAtMs = atMs + this.#capacityMs - BURST_MS
  }

  /** The rate of all processes together, of which this one takes its part. At least one unit fits in. */
  setRate(perSecond: number, instances: number): void {
    this.#msPerUnit = (1_000 * instances) / perSecond
    this.#capacityMs = Math.max(BURST_MS, this.#msPerUnit)
  }

  /**
   * How long until `units` may be taken, in whole milliseconds; 0: now. For more than the bucket holds, until it is
   * full: they are then taken on credit, or they could never be.
   */
  waitMs(units: number, atMs: number): number {
    const owedMs = Math.max(this.#fullAtMs - atMs, 0)
    const freeAfterwardsMs = Math.max(this.#capacityMs - units * this.#msPerUnit, 0)
    const missingMs = owedMs - freeAfterwardsMs
    return missingMs > TOLERANCE_MS ? Math.ceil(missingMs - TOLERANCE_MS / 2) : 0
  }

  /** Takes them whether there are as many or not. */
  take(units: number, atMs: number): void {
    this.#fullAtMs = Math.max(this.#fullAtMs, atMs) + units * this.#msPerUnit
  }
}
