const PERIOD_MS = 60_000
/** The highest number of keys that are counted at the same time; further keys are not limited. */
const MAX_KEYS = 10_000

/** Counts failures per key and minute of a monotonic clock. */
export class FailureLimit {
  readonly #perMinute: number
  #minute = Number.NaN
  #counts = new Map<string, number>()

  constructor(perMinute: number) {
    this.#perMinute = perMinute
  }

  /** Returns the whole seconds until the key may try again; 0 if it may now. */
  secondsLeft(key: string, atMs: number): number {
    const isLimited = (this.#current(atMs).get(key) ?? 0) >= this.#perMinute
    return isLimited ? Math.ceil(((this.#minute + 1) * PERIOD_MS - atMs) / 1_000) : 0
  }

  /** Counts a failure. Returns whether it is the first one of the key in this minute. */
  count(key: string, atMs: number): boolean {
    const counts = this.#current(atMs)
    const before = counts.get(key)
    if (before === undefined && counts.size >= MAX_KEYS) return false
    counts.set(key, (before ?? 0) + 1)
    return before === undefined
  }

  #current(atMs: number): Map<string, number> {
    const minute = Math.floor(atMs / PERIOD_MS)
    if (minute !== this.#minute) {
      this.#minute = minute
      this.#counts = new Map()
    }
    return this.#counts
  }
}
