/** The ranges that the range control offers, in seconds. */
export const ranges = {
  '1h': 3600,
  '6h': 6 * 3600,
  '24h': 24 * 3600,
  '7d': 7 * 86_400,
  '14d': 14 * 86_400,
  '30d': 30 * 86_400,
} as const

export type RangeName = keyof typeof ranges

export const DEFAULT_RANGE: RangeName = '7d'

const rangeWords: Readonly<Record<RangeName, string>> = {
  '1h': 'the last hour',
  '6h': 'the last 6 hours',
  '24h': 'the last 24 hours',
  '7d': 'the last 7 days',
  '14d': 'the last 14 days',
  '30d': 'the last 30 days',
}

/** A range of time of a view. */
export interface TimeRange {
  /** Null if the address has `since` or `until` of its own. */
  readonly name: RangeName | null
  readonly sinceMs: number
  readonly untilMs: number
  /** The parameters for the API: RFC 3339. `until` is missing if the range ends now. */
  readonly query: { readonly since: string; readonly until?: string }
  /** In a sentence: `the last 7 days`. */
  readonly words: string
}

/** Returns the range of an address: `since` and `until`, or `range`, or the last 7 days. Values that are wrong are ignored. */
export function parseRange(query: URLSearchParams, nowMs: number): TimeRange {
  const since = timeOf(query.get('since'))
  const until = timeOf(query.get('until'))
  if (since !== null || until !== null) {
    const untilMs = until ?? nowMs
    const sinceMs = Math.min(since ?? untilMs - ranges[DEFAULT_RANGE] * 1000, untilMs)
    return {
      name: null,
      sinceMs,
      untilMs,
      query: { since: new Date(sinceMs).toISOString(), until: new Date(untilMs).toISOString() },
      words: 'this range',
    }
  }
  const asked = query.get('range') ?? ''
  const name = Object.hasOwn(ranges, asked) ? (asked as RangeName) : DEFAULT_RANGE
  const sinceMs = nowMs - ranges[name] * 1000
  return {
    name,
    sinceMs,
    untilMs: nowMs,
    query: { since: new Date(sinceMs).toISOString() },
    words: rangeWords[name],
  }
}

/** Returns the milliseconds of nanoseconds as text or of an RFC 3339 time, or null if the text is neither. */
function timeOf(text: string | null): number | null {
  if (text === null) return null
  const ms = /^\d{1,19}$/.test(text) ? Number(BigInt(text) / 1_000_000n) : Date.parse(text)
  return Number.isFinite(ms) && Math.abs(ms) <= 8.64e15 ? ms : null
}
