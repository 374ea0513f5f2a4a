import { expect, test } from 'vitest'
import { RateLimit } from './rate-limit.ts'

/** Returns how many resets are allowed before the first one that is not. */
function allowed(limit: RateLimit, nowMs: number): number {
  let count = 0
  while (!limit.isExceededAt(nowMs)) count += 1
  return count
}

const NOW_MS = 1_800_000_000_000

test('P-26: allows 1,000 resets at once', () => {
  expect(allowed(new RateLimit(1_000, 33), NOW_MS)).toBe(1_000)
})

test.each<[string, number, number]>([
  ['33 more after a second', 1_000, 33],
  ['330 more after ten seconds', 10_000, 330],
  ['1,000 at most, after an hour', 3_600_000, 1_000],
])('allows %s', (_, ms, more) => {
  const limit = new RateLimit(1_000, 33)
  for (let count = 0; count < 1_000; count += 1) limit.isExceededAt(NOW_MS)
  expect(allowed(limit, NOW_MS + ms)).toBe(more)
})

test('allows 33 resets a second for ever', () => {
  const limit = new RateLimit(1_000, 33)
  for (let count = 0; count < 10_000; count += 1) {
    expect(limit.isExceededAt(NOW_MS + Math.ceil((count * 1_000) / 33))).toBe(false)
  }
})

test('is not exceeded because the clock was set back', () => {
  const limit = new RateLimit(1_000, 33)
  expect(limit.isExceededAt(NOW_MS)).toBe(false)
  expect(limit.isExceededAt(NOW_MS - 3_600_000)).toBe(false)
})
