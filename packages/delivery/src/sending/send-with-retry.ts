import type { Clock, Random } from '@penstock/runtime'
import type { Dead, Delivered, Outcome } from './outcome.ts'
import { nextAttemptAt, type RetryPolicy, toDeadlineMs } from './retry.ts'

export interface RetryContext {
  readonly policy: RetryPolicy
  /** The timeout of one attempt; shorter if the overall deadline is nearer. */
  readonly attemptTimeoutMs: number
  readonly clock: Clock
  readonly random: Random
  readonly signal?: AbortSignal | undefined
  readonly onRetry?: ((retry: RetryNotice) => void) | undefined
}

export interface RetryNotice {
  readonly attemptsMade: number
  readonly waitMs: number
  readonly reason: string
}

/** The final result of all attempts. */
export interface Delivery {
  readonly outcome: Delivered | Dead | Expired | Aborted
  readonly attempts: number
}

/** The time ran out. The reason includes that of the last attempt. */
export interface Expired {
  readonly kind: 'expired'
  readonly reason: string
}

/** The caller stopped the attempts. The receiver may have acted on the last one. */
interface Aborted {
  readonly kind: 'aborted'
  readonly reason: string
}

/**
 * Repeats `attempt` until it is delivered, dead, expired or aborted. `attempt` must observe the
 * given timeout and the same signal.
 */
export async function sendWithRetry(
  attempt: (timeoutMs: number) => Promise<Outcome>,
  context: RetryContext,
): Promise<Delivery> {
  const { policy, clock, random, signal } = context
  const enqueuedAtMs = clock.monotonicMs()
  const deadlineMs = toDeadlineMs(policy, enqueuedAtMs)
  let attempts = 0
  let reason = 'the time was over before the first attempt'
  while (!signal?.aborted) {
    const leftMs = deadlineMs - clock.monotonicMs()
    if (leftMs <= 0) return expired(attempts, reason)

    const outcome = await attempt(Math.min(context.attemptTimeoutMs, leftMs))
    attempts += 1
    if (outcome.kind !== 'retry') return { outcome, attempts }
    reason = outcome.reason
    if (signal?.aborted) break

    const nowMs = clock.monotonicMs()
    const item = { enqueuedAtMs, attemptsMade: attempts, retryAfterMs: outcome.retryAfterMs }
    const atMs = nextAttemptAt(policy, item, nowMs, random)
    if (atMs === undefined) return expired(attempts, reason)
    context.onRetry?.({ attemptsMade: attempts, waitMs: atMs - nowMs, reason })
    await sleepUnlessAborted(clock, atMs - nowMs, signal)
  }
  const end = attempts === 0 ? 'stopped before the first attempt' : `stopped after ${counted(attempts)}: ${reason}`
  return { outcome: { kind: 'aborted', reason: end }, attempts }
}

function expired(attempts: number, reason: string): Delivery {
  return { outcome: { kind: 'expired', reason: `gave up after ${counted(attempts)}: ${reason}` }, attempts }
}

const counted = (attempts: number): string => (attempts === 1 ? '1 attempt' : `${attempts} attempts`)

async function sleepUnlessAborted(clock: Clock, ms: number, signal: AbortSignal | undefined): Promise<void> {
  try {
    await clock.sleep(ms, signal)
  } catch (error) {
    if (!signal?.aborted) throw error
  }
}
