interface Outage {
  readonly startMs: number
  /** `undefined` while it lasts. */
  endMs: number | undefined
}

/** The times, by `performance.now()`, at which the database was away. */
export class Outages {
  readonly #outages: Outage[] = []

  begin(): void {
    this.#outages.push({ startMs: performance.now(), endMs: undefined })
  }

  end(): void {
    this.#outages.at(-1)!.endMs = performance.now()
  }

  get count(): number {
    return this.#outages.length
  }

  /** Returns how long the database had been there without an interruption at `atMs`; `undefined` while it was away. */
  upForMs(atMs: number): number | undefined {
    const last = this.#outages.findLast(({ startMs }) => startMs <= atMs)
    if (last === undefined) return Number.POSITIVE_INFINITY
    return last.endMs === undefined || last.endMs > atMs ? undefined : atMs - last.endMs
  }

  /** Returns whether the database went away within some time after `atMs`, or was away then. */
  beganWithin(atMs: number, limitMs: number): boolean {
    return this.#outages.some(
      ({ startMs, endMs = Number.POSITIVE_INFINITY }) => endMs > atMs && startMs - atMs < limitMs,
    )
  }

  /** Returns the latest time at which a task must have succeeded that needs the database for `spanMs` without an interruption. */
  lastSuccessMs(atMs: number, spanMs: number): number {
    let latestMs = atMs - spanMs
    for (const { startMs, endMs = atMs } of this.#outages.toReversed()) {
      if (startMs <= atMs && endMs > latestMs) latestMs = Math.min(latestMs, startMs - spanMs)
    }
    return latestMs
  }
}
