/** The number of streams that may end by RST_STREAM at once, and how many more per second, as in nghttp2. */
const BURST = 1_000
const PER_MS = 33 / 1_000

/**
 * Decides when a client has made too many streams end by RST_STREAM, its own or the gateway's. A stream that was reset no longer
 * is treated as open, so the limit of open streams does not bound the work for such streams.
 */
export class ResetLimit {
  #left = BURST
  #atMs = 0

  /** Records a reset. Returns whether the connection must be closed. */
  isExceededAt(monotonicMs: number): boolean {
    this.#left = Math.min(BURST, this.#left + Math.max(0, monotonicMs - this.#atMs) * PER_MS) - 1
    this.#atMs = monotonicMs
    return this.#left < 0
  }
}
