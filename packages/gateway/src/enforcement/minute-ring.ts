const MINUTE_MS = 60_000
const MINUTES = 24 * 60

/** Counts requests per minute for the last 24 hours. */
export class MinuteRing {
  readonly #minute = new Float64Array(MINUTES).fill(-1)
  readonly #requests = new Float64Array(MINUTES)
  readonly #wouldReject = new Float64Array(MINUTES)
  #newest = -1

  add(nowMs: number, wouldReject: boolean): void {
    const minute = Math.floor(nowMs / MINUTE_MS)
    const slot = minute % MINUTES
    if (this.#minute[slot] !== minute) {
      this.#minute[slot] = minute
      this.#requests[slot] = 0
      this.#wouldReject[slot] = 0
    }
    if (minute > this.#newest) this.#newest = minute
    this.#requests[slot]! += 1
    if (wouldReject) this.#wouldReject[slot]! += 1
  }

  /** Returns the minutes that have any requests, newest first. */
  report(): { startMs: number; requests: number; wouldReject: number }[] {
    return Array.from(this.#minute, (minute, slot) => ({
      startMs: minute * MINUTE_MS,
      requests: this.#requests[slot]!,
      wouldReject: this.#wouldReject[slot]!,
    }))
      .filter(({ startMs }) => startMs >= 0 && startMs > (this.#newest - MINUTES) * MINUTE_MS)
      .toSorted((a, b) => b.startMs - a.startMs)
  }
}
