import fc from 'fast-check'
import { expect, test } from 'vitest'
import { countItems, sharesOf } from './item-shares.ts'
import { traceBody } from './model-upstream.harness.ts'

test.each<[number, number[], number[]]>([
  [3, [1, 1, 1], [1, 1, 1]],
  [1, [1, 1, 1], [1, 0, 0]],
  [5, [10, 10], [3, 2]],
  [4, [30, 10], [3, 1]],
  [2, [0, 5, 0], [0, 2, 0]],
  [9, [2, 3], [2, 3]],
  [0, [2, 3], [0, 0]],
])('splits %d among counts %j as %j', (total, counts, shares) => {
  expect(sharesOf(BigInt(total), counts)).toEqual(shares.map(BigInt))
})

test('shares are whole, none above its count, and sum to the total', () => {
  const counts = fc.array(fc.nat({ max: 1_000 }), { minLength: 1, maxLength: 64 })
  fc.assert(
    fc.property(counts, fc.double({ min: 0, max: 1, noNaN: true }), (all, part) => {
      const total = BigInt(Math.floor(all.reduce((sum, count) => sum + count, 0) * part))
      const shares = sharesOf(total, all)
      expect(shares.reduce((sum, share) => sum + share, 0n)).toBe(total)
      for (const [index, share] of shares.entries()) expect(share).toBeLessThanOrEqual(BigInt(all[index]!))
      for (const share of shares) expect(share).toBeGreaterThanOrEqual(0n)
    }),
  )
})

test('counts the items of every signal', () => {
  expect(countItems('traces', traceBody(['a', 'b'], [], ['c']))).toBe(3)
  // ResourceMetrics { ScopeMetrics { Metric { gauge { two data points } } } }
  expect(countItems('metrics', Buffer.from('0a0a1208120 62a040a000a00'.replace(' ', ''), 'hex'))).toBe(2)
  expect(countItems('logs', Buffer.from('0a061204120012 00'.replace(' ', ''), 'hex'))).toBe(2)
})

test('counts no items in a body that cannot be decoded', () => {
  expect(countItems('traces', Buffer.from('0a0112', 'hex'))).toBe(0)
})
