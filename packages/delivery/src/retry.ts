import type { Random } from '@penstock/runtime'

export interface RetryPolicy {
  /** Ceiling of the first wait; it doubles with every attempt. */
  readonly baseMs: number
  readonly capMs: number
  /** Counted from `enqueuedAtMs`, waits and attempts included. */
  readonly giveUpAfterMs: number
}

/** The moment after which an item is neither tried nor waited for. */
export function deadlineMsOf(policy: RetryPolicy, enqueuedAtMs: number): number {
  return enqueuedAtMs + policy.giveUpAfterMs
}

/**
 * When to attempt again, or `undefined` once the item is out of time. All times are milliseconds since 1970.
 *
 * Full jitter: uniform in [0, min(capMs, baseMs · 2^(attemptsMade-1))], never sooner than the server's Retry-After
 * (0 when it sent none).
 */
export function nextAttemptAt(
  policy: RetryPolicy,
  item: { readonly enqueuedAtMs: number; readonly attemptsMade: number; readonly retryAfterMs: number },
  nowMs: number,
  random: Random,
): number | undefined {
  const ceilingMs = Math.min(policy.capMs, policy.baseMs * 2 ** (item.attemptsMade - 1))
  const atMs = nowMs + Math.max(item.retryAfterMs, Math.floor(random() * ceilingMs))
  return atMs < deadlineMsOf(policy, item.enqueuedAtMs) ? atMs : undefined
}
