const HOUR_MS = 3_600_000

/**
 * Remembers the sources that were warned within the last hour (E-5).
 *
 * If it is full, new sources are not warned: one warning too few does no harm, but unbounded memory would.
 */
export class WarningMemory {
  /** Oldest first: an entry is never updated, only removed and added again. */
  readonly #warnedAtMs = new Map<string, number>()
  readonly #capacity: number

  constructor(capacity = 10_000) {
    this.#capacity = capacity
  }

  /** Returns whether `source` may be warned now. If it may, it is not warned again for an hour. */
  take(source: string, monotonicMs: number): boolean {
    this.#removeUntil(monotonicMs - HOUR_MS)
    if (this.#warnedAtMs.size >= this.#capacity || this.#warnedAtMs.has(source)) return false
    this.#warnedAtMs.set(source, monotonicMs)
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
