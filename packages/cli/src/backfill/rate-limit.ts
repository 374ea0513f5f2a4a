import { MAX_RETRY_AFTER_MS, retryAfterMs } from '@penstock/delivery'

/** The wait after a refusal that does not say how long to wait. GitLab counts requests per minute. */
const UNNAMED_WAIT_MS = 60_000
/** The shortest wait, so that a refusal with a time of 0 does not cause a busy loop. */
const SHORTEST_WAIT_MS = 1_000
/** The value from which `RateLimit-Reset` is a Unix time, as in GitLab. Smaller values are seconds from now, as in other forges. */
const FIRST_MOMENT_SECONDS = 1_000_000_000

/**
 * Returns how long to wait after this answer, at most an hour. It is 0 unless the server refused the request for its rate
 * limit (429) or announced that no requests are left.
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
