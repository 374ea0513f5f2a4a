import fc from 'fast-check'
import { expect, test } from 'vitest'
import { InFlightBudget } from './in-flight-budget.ts'

test('X-3: grants a token a quarter of the budget, and all tokens together the whole', () => {
  const budget = new InFlightBudget(1_000)
  expect(budget.reserve('a', 200)).toBe(true)
  expect(budget.reserve('a', 50)).toBe(true)
  expect(budget.reserve('a', 1)).toBe(false)
  expect(budget.reserve('b', 250)).toBe(true)
  expect(budget.reserve(undefined, 500)).toBe(true)
  expect(budget.reserve('c', 1)).toBe(false)
  expect(budget.inFlightBytes).toBe(1_000)
  budget.release('a', 200)
  expect(budget.reserve('c', 1)).toBe(true)
})

test('X-3: grants a body larger than the share of its token if the token holds nothing', () => {
  const budget = new InFlightBudget(1_000)
  expect(budget.reserve('a', 600)).toBe(true)
  expect(budget.reserve('a', 1)).toBe(false)
  budget.release('a', 600)
  expect(budget.reserve('a', 1_001)).toBe(false)
  expect(budget.inFlightBytes).toBe(0)
})

test('throws when more is released than was reserved', () => {
  const budget = new InFlightBudget(1_000)
  budget.reserve('a', 10)
  expect(() => budget.release('a', 11)).toThrow(RangeError)
  expect(() => budget.release('b', 1)).toThrow(RangeError)
})

test('X-3: never exceeds the budget, and is empty when everything is released', () => {
  const steps = fc.array(
    fc.record({ token: fc.constantFrom('a', 'b', undefined), bytes: fc.nat(400), back: fc.boolean() }),
  )
  fc.assert(
    fc.property(steps, (run) => {
      const budget = new InFlightBudget(1_000)
      const held: { token: string | undefined; bytes: number }[] = []
      for (const { token, bytes, back } of run) {
        const oldest = back ? held.shift() : undefined
        if (oldest) budget.release(oldest.token, oldest.bytes)
        else if (budget.reserve(token, bytes)) held.push({ token, bytes })
        expect(budget.inFlightBytes).toBeLessThanOrEqual(1_000)
      }
      for (const { token, bytes } of held) budget.release(token, bytes)
      expect(budget.inFlightBytes).toBe(0)
    }),
  )
})
