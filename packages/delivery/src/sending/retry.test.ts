import fc from 'fast-check'
import { expect, test } from 'vitest'
import { nextAttemptAt, type RetryPolicy } from './retry.ts'

const policy: RetryPolicy = { baseMs: 1_000, capMs: 60_000, giveUpAfterMs: 3_600_000 }

test.each([
  { attemptsMade: 1, retryAfterMs: 0, expected: 500 },
  { attemptsMade: 4, retryAfterMs: 0, expected: 4_000 },
  { attemptsMade: 99, retryAfterMs: 0, expected: 30_000 },
  { attemptsMade: 100_000, retryAfterMs: 0, expected: 30_000 },
  { attemptsMade: 1, retryAfterMs: 9_000, expected: 9_000 },
  { attemptsMade: 99, retryAfterMs: 9_000, expected: 30_000 },
])('after $attemptsMade attempts, Retry-After $retryAfterMs ms: wait $expected ms', ({ expected, ...item }) => {
  expect(nextAttemptAt(policy, { enqueuedAtMs: 0, ...item }, 0, () => 0.5)).toBe(expected)
})

test.each([
  { nowMs: 3_599_499, expected: 3_599_999 },
  { nowMs: 3_599_500, expected: undefined },
  { nowMs: 9_999_999, expected: undefined },
])('enqueued at 0, now $nowMs: $expected', ({ nowMs, expected }) => {
  expect(nextAttemptAt(policy, { enqueuedAtMs: 0, attemptsMade: 1, retryAfterMs: 0 }, nowMs, () => 0.5)).toBe(expected)
})

const items = fc.record({ enqueuedAtMs: fc.nat(), attemptsMade: fc.integer({ min: 1 }), retryAfterMs: fc.nat() })
const instants = fc.nat()
const dice = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })

test('is never earlier than Retry-After, and always before the give-up time', () => {
  fc.assert(
    fc.property(items, instants, dice, (item, nowMs, roll) => {
      const atMs = nextAttemptAt(policy, item, nowMs, () => roll)
      if (atMs === undefined) return
      expect(atMs).toBeGreaterThanOrEqual(nowMs + item.retryAfterMs)
      expect(atMs).toBeLessThan(item.enqueuedAtMs + policy.giveUpAfterMs)
    }),
  )
})

test('stays below the ceiling without Retry-After', () => {
  fc.assert(
    fc.property(items, dice, (item, roll) => {
      const atMs = nextAttemptAt(policy, { ...item, retryAfterMs: 0 }, item.enqueuedAtMs, () => roll) ?? 0
      expect(atMs - item.enqueuedAtMs).toBeLessThan(policy.capMs)
    }),
  )
})
