import type { Random } from '@penstock/runtime'

export interface RetryPolicy {
  /** The upper limit of the first wait; it doubles with every attempt. */
  readonly baseMs: number
  readonly capMs: number
  /** The total time, counted from `enqueuedAtMs`, including waits and attempts. */
  readonly giveUpAfterMs: number
}

/** Returns the time after which no further attempt is made. */
export function toDeadlineMs(policy: RetryPolicy, enqueuedAtMs: number): number {
  return enqueuedAtMs + policy.giveUpAfterMs
}

/**
 * Returns when to make the next attempt, or `undefined` if the item is out of time. All times are milliseconds since 1970.
 *
 * The wait has full jitter: it is uniform in [0, min(capMs, baseMs · 2^(attemptsMade-1))], but at least the server's
 * Retry-After (0 if it sent none).
 */
export function nextAttemptAt(
  policy: RetryPolicy,
  item: { readonly enqueuedAtMs: number; readonly attemptsMade: number; readonly retryAfterMs: number },
  nowMs: number,
  random: Random,
): number | undefined {
  const ceilingMs = Math.min(policy.capMs, policy.baseMs * 2 ** (item.attemptsMade - 1))
  const atMs = nowMs + Math.max(item.retryAfterMs, Math.floor(random() * ceilingMs))
  return atMs < toDeadlineMs(policy, item.enqueuedAtMs) ? atMs : undefined
}
