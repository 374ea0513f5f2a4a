import { MAX_RETRY_AFTER_MS, retryAfterMs } from '@penstock/delivery'

/** A refusal that names no time; GitLab counts by the minute. */
const UNNAMED_WAIT_MS = 60_000
/** A refusal that is not worth its name would have us ask in a loop. */
const SHORTEST_WAIT_MS = 1_000
/** `RateLimit-Reset` is a moment, as GitLab has it, or a number of seconds from now, as others do; no wait is that long. */
const FIRST_MOMENT_SECONDS = 1_000_000_000

/**
 * How long to leave the server alone after this answer, at most an hour: 0 unless it refused for its rate limit (429) or said
 * that no request is left of it.
 *
 * @see RFC 6585 section 4; draft-ietf-httpapi-ratelimit-headers-03; GitLab, "Rate limits", response headers
 */
export function rateLimitWaitMs(
  { status, headers }: { readonly status: number; readonly headers: Readonly<Record<string, string>> },
  nowMs: number,
): number {
  const resetMs = untilResetMs(headers['ratelimit-reset'], nowMs)
  if (status === 429) {
    const askedMs = retryAfterMs(headers['retry-after'], nowMs) || resetMs || UNNAMED_WAIT_MS
    return Math.max(askedMs, SHORTEST_WAIT_MS)
  }
  return headers['ratelimit-remaining']?.trim() === '0' ? resetMs : 0
}

function untilResetMs(header: string | undefined, nowMs: number): number {
  const text = header?.trim() ?? ''
  if (!/^\d{1,15}$/.test(text)) return 0
  const seconds = Number(text)
  const waitMs = seconds < FIRST_MOMENT_SECONDS ? seconds * 1_000 : seconds * 1_000 - nowMs
  return Math.min(Math.max(waitMs, 0), MAX_RETRY_AFTER_MS)
}
