/** Limits a rate: allows `burst` events at once, and `perSecond` more each second. */
export class RateLimit {
  readonly #burst: number
  readonly #perMs: number
  #left: number
  #atMs = 0

  constructor(burst: number, perSecond: number) {
    this.#burst = burst
    this.#perMs = perSecond / 1_000
    this.#left = burst
  }

  /** Allows more events, but never more than `burst` at once. */
  allow(events: number): void {
    this.#left = Math.min(this.#burst, this.#left + events)
  }

  /** Records an event. Returns whether the limit is exceeded. */
  isExceededAt(monotonicMs: number): boolean {
    this.allow(Math.max(0, monotonicMs - this.#atMs) * this.#perMs)
    this.#atMs = monotonicMs
    this.#left -= 1
    return this.#left < 0
  }
}
