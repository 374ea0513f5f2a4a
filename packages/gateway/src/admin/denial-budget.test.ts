import fc from 'fast-check'
import { expect, test } from 'vitest'
import { DenialBudget } from './denial-budget.ts'

const size = { burst: 3, perMinute: 6, names: 2 }

test('allows a burst, then one every ten seconds, and returns the exact wait', () => {
  const budget = new DenialBudget(size)
  expect([budget.take('a', 0), budget.take('a', 0), budget.take('a', 0)]).toEqual([0, 0, 0])
  expect(budget.take('a', 0)).toBe(10_000)
  expect(budget.take('a', 9_999)).toBe(1)
  expect(budget.take('a', 10_000)).toBe(0)
  expect(budget.take('a', 10_000)).toBe(10_000)
})

test('each name has its own budget', () => {
  const budget = new DenialBudget(size)
  for (let index = 0; index < 5; index += 1) budget.take('a', 0)
  expect(budget.take('b', 0)).toBe(0)
})

test('forgets the name that has not been used for longest', () => {
  const budget = new DenialBudget(size)
  for (let index = 0; index < 5; index += 1) for (const name of ['a', 'b']) budget.take(name, 0)
  budget.take('a', 0)
  budget.take('c', 0)
  expect([budget.take('a', 0) > 0, budget.take('b', 0)]).toEqual([true, 0])
})

test('never allows more than the burst and the rate, and returns the shortest sufficient wait', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 15_000 }), { maxLength: 60 }), (gapsMs) => {
      const budget = new DenialBudget(size)
      let nowMs = 0
      let taken = 0
      for (const gapMs of gapsMs) {
        nowMs += gapMs
        const waitMs = budget.take('a', nowMs)
        if (waitMs === 0) taken += 1
        else {
          nowMs += waitMs
          expect(budget.take('a', nowMs)).toBe(0)
          taken += 1
        }
      }
      expect(taken).toBeLessThanOrEqual(size.burst + nowMs / 10_000)
    }),
  )
})
