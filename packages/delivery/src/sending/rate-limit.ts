import { MAX_RETRY_AFTER_MS, retryAfterMs } from './retry-after.ts'

/** The names of the headers that tell how many requests are left, in lower case. */
export interface RateLimitHeaders {
  readonly remaining: string
  /** Seconds from now, or a Unix time in seconds. */
  readonly reset: string
}

interface LimitedReply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Uint8Array
}

export interface RateLimit {
  /** Whether the server refused the request for its rate limit, so that it can be sent again. */
  readonly isRefused: boolean
  /** How long to wait before the next request, at most an hour; 0 if requests are left. */
  readonly waitMs: number
}

/** The wait after a refusal that does not say how long to wait. Servers count requests per minute. */
const UNNAMED_WAIT_MS = 60_000
/** The shortest wait, so that a refusal with a time of 0 does not cause a busy loop. */
const SHORTEST_WAIT_MS = 1_000
/** The value from which a reset is a Unix time. Smaller values are seconds from now. */
const FIRST_MOMENT_SECONDS = 1_000_000_000
/** The length of a body that may be the server's message about a limit. */
const MAX_MESSAGE_BYTES = 2_000

/**
 * Returns what an answer says about the rate limit. A 403 is a refusal for it if no requests are left, if it says when to try
 * again, or if its message says so.
 *
 * @see RFC 6585 section 4; draft-ietf-httpapi-ratelimit-headers-03
 */
export function readRateLimit(reply: LimitedReply, names: RateLimitHeaders, nowMs: number): RateLimit {
  const { status, headers } = reply
  const resetMs = untilResetMs(headers[names.reset], nowMs)
  const isUsedUp = headers[names.remaining]?.trim() === '0'
  const isRefused =
    status === 429 || (status === 403 && (isUsedUp || 'retry-after' in headers || hasLimitMessage(reply)))
  if (!isRefused) return { isRefused, waitMs: isUsedUp ? resetMs : 0 }
  const askedMs = retryAfterMs(headers['retry-after'], nowMs) || resetMs || UNNAMED_WAIT_MS
  return { isRefused, waitMs: Math.max(askedMs, SHORTEST_WAIT_MS) }
}

const hasLimitMessage = ({ body }: LimitedReply): boolean =>
  body !== undefined && body.length <= MAX_MESSAGE_BYTES && /\brate limit\b/i.test(Buffer.from(body).toString())

function untilResetMs(header: string | undefined, nowMs: number): number {
  const text = header?.trim() ?? ''
  if (!/^\d{1,15}$/.test(text)) return 0
  const seconds = Number(text)
  const waitMs = seconds < FIRST_MOMENT_SECONDS ? seconds * 1_000 : seconds * 1_000 - nowMs
  return Math.min(Math.max(waitMs, 0), MAX_RETRY_AFTER_MS)
}
