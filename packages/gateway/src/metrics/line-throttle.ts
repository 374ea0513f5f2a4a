const WINDOW_MS = 10_000
const MAX_WINDOWS = 10_000

/** The source under which new sources are grouped when the throttle is full. */
const OTHER_SOURCES = 'others'

interface Window {
  startMs: number
  suppressed: number
}

interface Suppressed {
  readonly source: string
  readonly reason: string
  readonly tokenId: string | undefined
  readonly count: number
}

/**
 * Limits log lines to one in 10 s of a monotonic clock per (source, reason, token id). It costs little enough for floods: no key is built, and
 * suppressed lines allocate nothing (T-12).
 *
 *     reason → token id, '' for none → source → window
 *
 * The size is bounded: beyond 10,000 windows, all new sources share one window per reason, as the source `others`.
 */
export class LineThrottle {
  readonly #windows = new Map<string, Map<string, Map<string, Window>>>()
  #size = 0

  /** Returns how many lines were suppressed since the last one of this kind, or -1 if this one must be suppressed too. */
  suppressedBefore(source: string, reason: string, tokenId: string | undefined, atMs: number): number {
    const bySource = this.#windows.get(reason)?.get(tokenId ?? '')
    const window = bySource?.get(source) ?? this.#sharedWindowWhenFull(reason)
    if (window === undefined) {
      this.#open(source, reason, tokenId ?? '', atMs)
      return 0
    }
    const ageMs = atMs - window.startMs
    if (ageMs < WINDOW_MS) {
      window.suppressed += 1
      return -1
    }
    const { suppressed } = window
    window.startMs = atMs
    window.suppressed = 0
    return suppressed
  }

  /** Removes windows that are over, and returns those with suppressed lines that were not reported. */
  sweep(atMs: number): Suppressed[] {
    const unreported: Suppressed[] = []
    for (const [reason, byToken] of this.#windows) {
      for (const [tokenId, bySource] of byToken) {
        for (const [source, { startMs, suppressed }] of bySource) {
          if (atMs - startMs < WINDOW_MS) continue
          bySource.delete(source)
          this.#size -= 1
          if (suppressed > 0) unreported.push({ source, reason, tokenId: tokenId || undefined, count: suppressed })
        }
        if (bySource.size === 0) byToken.delete(tokenId)
      }
      if (byToken.size === 0) this.#windows.delete(reason)
    }
    return unreported
  }

  #sharedWindowWhenFull(reason: string): Window | undefined {
    if (this.#size < MAX_WINDOWS) return undefined
    return (
      this.#windows.get(reason)?.get('')?.get(OTHER_SOURCES) ??
      this.#open(OTHER_SOURCES, reason, '', Number.NEGATIVE_INFINITY)
    )
  }

  #open(source: string, reason: string, tokenId: string, startMs: number): Window {
    const byToken = this.#windows.get(reason) ?? new Map<string, Map<string, Window>>()
    this.#windows.set(reason, byToken)
    const bySource = byToken.get(tokenId) ?? new Map<string, Window>()
    byToken.set(tokenId, bySource)
    const window = { startMs, suppressed: 0 }
    bySource.set(source, window)
    this.#size += 1
    return window
  }
}
