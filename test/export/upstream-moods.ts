import type { Manner } from './upstream.ts'

/** Longer than the exporters wait whose endpoint has moods, see `ATTEMPT_SECONDS`. */
const TOO_LATE_MS = 1_500
export const ATTEMPT_SECONDS = 1

const accept: Manner = { play: 'accept' }

/** What an endpoint does in a phase, drawn per request. */
const moods: readonly (readonly Manner[])[] = [
  [accept],
  [accept, { play: 'accept', afterMs: 20 }, { play: 'accept', afterMs: 200 }],
  [accept, { play: 'accept-reset' }, { play: 'reset' }],
  [accept, { play: 'accept', afterMs: TOO_LATE_MS }],
  [accept, { play: 'refuse', status: 429, retryAfterSeconds: 1 }, { play: 'refuse', status: 503 }],
  [{ play: 'reset' }],
]
/** Requests of one phase. */
const LONGEST_PHASE = 6

/** An upstream that flaps, slows, is busy and breaks off, in phases that follow from the dice. */
export function moodyManner(random: () => number): () => Manner {
  let mood = moods[0]!
  let left = 0
  const oneOf = <Item>(items: readonly Item[]) => items[Math.floor(random() * items.length)]!
  return () => {
    if (left === 0) {
      mood = oneOf(moods)
      left = 1 + Math.floor(random() * LONGEST_PHASE)
    }
    left -= 1
    return oneOf(mood)
  }
}
