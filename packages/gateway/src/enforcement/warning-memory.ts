const HOUR_MS = 3_600_000

/**
 * Who has been warned within the hour (E-5).
 *
 * When it is full of such, strangers are not warned at all: a warning too few does no harm, one an export would.
 */
export class WarningMemory {
  /** Oldest first: an entry is never updated, only removed and set anew. */
  readonly #warnedAtMs = new Map<string, number>()
  readonly #capacity: number

  constructor(capacity = 10_000) {
    this.#capacity = capacity
  }

  /** Whether `source` may be warned now; if so, not again for an hour. */
  take(source: string, nowMs: number): boolean {
    this.#removeUntil(nowMs - HOUR_MS)
    if (this.#warnedAtMs.size >= this.#capacity || this.#warnedAtMs.has(source)) return false
    this.#warnedAtMs.set(source, nowMs)
    return true
  }

  get size(): number {
    return this.#warnedAtMs.size
  }

  #removeUntil(atMs: number): void {
    for (const [source, warnedAtMs] of this.#warnedAtMs) {
      if (warnedAtMs > atMs) return
      this.#warnedAtMs.delete(source)
    }
  }
}
