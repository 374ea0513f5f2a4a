/** The shortest allowed time between pings on a connection without streams (P-26). */
const MIN_INTERVAL_MS = 10_000
/** The number of early pings that are tolerated, as in gRPC's own servers. */
const MAX_STRIKES = 2

/** Decides when a connection has sent too many pings while it had no streams. */
export class PingLimit {
  #strikes = 0
  #lastPingMs = Number.NEGATIVE_INFINITY

  streamBegan(): void {
    this.#strikes = 0
  }

  /** Records a ping. Returns whether the connection must be closed. */
  isExceededAt(monotonicMs: number, hasStreams: boolean): boolean {
    const sinceMs = monotonicMs - this.#lastPingMs
    this.#lastPingMs = monotonicMs
    if (hasStreams || sinceMs >= MIN_INTERVAL_MS) return false
    this.#strikes += 1
    return this.#strikes > MAX_STRIKES
  }
}
