const PERIOD_MS = 60_000
/** Counted at the same time; while there are more, the further ones are not. */
const MAX_KEYS = 10_000

/** Counts failures by key and minute. */
export class FailureLimit {
  readonly #perMinute: number
  #minute = Number.NaN
  #counts = new Map<string, number>()

  constructor(perMinute: number) {
    this.#perMinute = perMinute
  }

  /** Whole seconds until the key may try again, above 0; 0: it may now. */
  secondsLeft(key: string, nowMs: number): number {
    const isAbove = (this.#current(nowMs).get(key) ?? 0) >= this.#perMinute
    return isAbove ? Math.ceil(((this.#minute + 1) * PERIOD_MS - nowMs) / 1_000) : 0
  }

  /** Whether it is the first failure of the key that is counted in this minute. */
  count(key: string, nowMs: number): boolean {
    const counts = this.#current(nowMs)
    const before = counts.get(key)
    if (before === undefined && counts.size >= MAX_KEYS) return false
    counts.set(key, (before ?? 0) + 1)
    return before === undefined
  }

  #current(nowMs: number): Map<string, number> {
    const minute = Math.floor(nowMs / PERIOD_MS)
    if (minute !== this.#minute) {
      this.#minute = minute
      this.#counts = new Map()
    }
    return this.#counts
  }
}
