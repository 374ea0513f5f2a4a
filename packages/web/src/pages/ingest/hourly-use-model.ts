import type { HourlyUsage, IngestToken } from '../../api/answers.ts'

/** The requests of a token in each hour. */
export interface HourlyRow extends Pick<IngestToken, 'id' | 'name'> {
  readonly requests: readonly number[]
  readonly rejected: readonly number[]
}

const HOUR_MS = 3_600_000

/**
 * Returns the hours of the tokens that were used, and a row for each of them. Pages of a list may have been loaded in different hours; the
 * hours of the last one count.
 */
export function hourlyUse(tokens: readonly Pick<IngestToken, 'id' | 'name' | 'usage_by_hour'>[]): {
  readonly hours: readonly number[]
  readonly rows: readonly HourlyRow[]
} {
  const used = tokens.flatMap(({ id, name, usage_by_hour }) =>
    usage_by_hour === null ? [] : [{ id, name, usage: usage_by_hour, sinceMs: Date.parse(usage_by_hour.since) }],
  )
  const sinceMs = Math.max(0, ...used.map((each) => each.sinceMs))
  const length = Math.max(0, ...used.map(({ usage }) => usage.requests.length))
  const rows = used.map(({ id, name, usage, sinceMs: ownSinceMs }) => {
    const skipped = (sinceMs - ownSinceMs) / HOUR_MS
    const shifted = (counts: readonly number[]) => Array.from({ length }, (_, hour) => counts[hour + skipped] ?? 0)
    return { id, name, requests: shifted(usage.requests), rejected: shifted(usage.rejected) }
  })
  return { hours: Array.from({ length }, (_, hour) => sinceMs + hour * HOUR_MS), rows }
}

/** Returns the values of a drawing of the requests; empty if there were none. */
export const requestsByHour = (usage: HourlyUsage | null): readonly number[] =>
  usage === null || usage.requests.every((count) => count === 0) ? [] : usage.requests
