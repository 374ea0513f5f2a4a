import { setTimeout as timer } from 'node:timers/promises'

export interface Clock {
  /** Milliseconds since 1970. Follows the wall, so it may step back. */
  nowMs(): number
  /** Nanoseconds since 1970. Never goes back while the process lives. */
  nowNs(): bigint
  /** Resolves `ms` from now; rejects with the signal's reason as soon as it aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

const NS_PER_MS = 1_000_000n
/** How far the two clocks may drift apart (slewing, a suspended machine) before we follow the wall again. */
const MAX_DRIFT_NS = 5n * NS_PER_MS
/** The longest wait a timer of Node can hold; beyond it the timer fires at once. */
const MAX_TIMER_MS = 2 ** 31 - 1

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  nowNs: monotonicNanoseconds(() => Date.now(), process.hrtime.bigint),
  sleep,
}

/**
 * The wall's time at the steady clock's resolution. When the wall steps back, time stands still until the wall has
 * caught up: equal times are harmless, a span that ends before it starts is not.
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
