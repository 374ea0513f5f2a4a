import { setTimeout as timer } from 'node:timers/promises'

export interface Clock {
  /** Returns milliseconds since 1970 by the system clock, which may step back. */
  nowMs(): number
  /** Returns nanoseconds since 1970. The value never decreases within a process. */
  nowNs(): bigint
  /**
   * Returns milliseconds since a fixed moment of this process, which no change of the system time affects. For every duration,
   * time limit and age within a process.
   */
  monotonicMs(): number
  /** Resolves after `ms` milliseconds; rejects with the signal's reason as soon as the signal aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

const NS_PER_MS = 1_000_000n
/** How far the monotonic clock may drift from the system clock (slewing, a suspended machine) before it is adjusted. */
const MAX_DRIFT_NS = 5n * NS_PER_MS
/** The longest delay of a Node timer; a longer one fires immediately. */
const MAX_TIMER_MS = 2 ** 31 - 1

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  nowNs: monotonicNanoseconds(() => Date.now(), process.hrtime.bigint),
  monotonicMs: () => performance.now(),
  sleep,
}

/**
 * Returns a clock that combines the system time with the resolution of the monotonic clock. If the system clock steps
 * back, the returned time stays constant until the system clock has caught up: equal times are harmless, but a span must
 * not end before it starts.
 */
export function monotonicNanoseconds(wallMs: () => number, steadyNs: () => bigint): () => bigint {
  let offsetNs = BigInt(wallMs()) * NS_PER_MS - steadyNs()
  let lastNs = 0n
  return () => {
    const wallNs = BigInt(wallMs()) * NS_PER_MS
    const elapsedNs = steadyNs()
    const driftNs = elapsedNs + offsetNs - wallNs
    if (driftNs > MAX_DRIFT_NS || driftNs < -MAX_DRIFT_NS) offsetNs = wallNs - elapsedNs
    const nowNs = elapsedNs + offsetNs
    if (nowNs > lastNs) lastNs = nowNs
    return lastNs
  }
}

async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted()
  try {
    for (let leftMs = ms; leftMs > 0; leftMs -= MAX_TIMER_MS) {
      await timer(Math.min(leftMs, MAX_TIMER_MS), undefined, signal && { signal })
    }
  } catch (error) {
    signal?.throwIfAborted()
    throw error
  }
}
