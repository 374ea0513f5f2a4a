import type { Behavior } from './upstream.ts'

/** Longer than the timeout of the exporters, see `ATTEMPT_SECONDS`. */
const TOO_LATE_MS = 1_500
export const ATTEMPT_SECONDS = 1

const accept: Behavior = { play: 'accept' }

/** The possible behaviors in each kind of phase; one is drawn per request. */
const phases: readonly (readonly Behavior[])[] = [
  [accept],
  [accept, { play: 'accept', afterMs: 20 }, { play: 'accept', afterMs: 200 }],
  [accept, { play: 'accept-reset' }, { play: 'reset' }],
  [accept, { play: 'accept', afterMs: TOO_LATE_MS }],
  [accept, { play: 'refuse', status: 429, retryAfterSeconds: 1 }, { play: 'refuse', status: 503 }],
  [{ play: 'reset' }],
]
/** The highest number of requests in one phase. */
const LONGEST_PHASE = 6

/** Returns the behavior of an upstream that has random phases: working, slow, busy, or resetting connections. */
export function phasedBehavior(random: () => number): () => Behavior {
  let phase = phases[0]!
  let left = 0
  const oneOf = <Item>(items: readonly Item[]) => items[Math.floor(random() * items.length)]!
  return () => {
    if (left === 0) {
      phase = oneOf(phases)
      left = 1 + Math.floor(random() * LONGEST_PHASE)
    }
    left -= 1
    return oneOf(phase)
  }
}
