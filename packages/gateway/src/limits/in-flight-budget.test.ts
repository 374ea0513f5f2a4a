import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type ArrivingBody, STEP_BYTES } from '../contract/arriving-body.ts'
import { InFlightBudget } from './in-flight-budget.ts'

test('X-3: grants a token a quarter of the budget, and all tokens together the whole', () => {
  const budget = new InFlightBudget(1_000, () => 0)
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
  const budget = new InFlightBudget(1_000, () => 0)
  expect(budget.reserve('a', 600)).toBe(true)
  expect(budget.reserve('a', 1)).toBe(false)
  budget.release('a', 600)
  expect(budget.reserve('a', 1_001)).toBe(false)
  expect(budget.inFlightBytes).toBe(0)
})

test('throws when more is released than was reserved', () => {
  const budget = new InFlightBudget(1_000, () => 0)
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
      const budget = new InFlightBudget(1_000, () => 0)
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

describe('bodies that arrive in pieces', () => {
  const TOTAL = 64 * STEP_BYTES

  function newBudget() {
    const now = { ms: 0 }
    const budget = new InFlightBudget(TOTAL, () => now.ms)
    const refused: string[] = []
    const begin = (name: string, bytes: number, more: { token?: string; isPaused?: boolean } = {}): ArrivingBody => {
      const body: ArrivingBody = budget.begin(more.token, bytes, 0, {
        isPaused: more.isPaused ?? false,
        refuse() {
          refused.push(name)
          budget.release(more.token, body.reservedBytes)
        },
      })
      return body
    }
    return { now, budget, refused, begin }
  }

  test('X-3: reserves in steps what has arrived, and not more than is declared', () => {
    const { budget, begin } = newBudget()
    const body = begin('a', 2.5 * STEP_BYTES)
    expect([1, STEP_BYTES - 1, 1, STEP_BYTES].map((bytes) => budget.grow(body, bytes))).toEqual([
      STEP_BYTES,
      0,
      STEP_BYTES,
      0.5 * STEP_BYTES,
    ])
    expect(budget.inFlightBytes).toBe(2.5 * STEP_BYTES)
  })

  test('X-3: refuses the body of which the smaller part has arrived, and of equal ones the younger one', () => {
    const { budget, refused, begin } = newBudget()
    const [half, other] = ['half', 'other half'].map((name) => begin(name, TOTAL / 2))
    budget.grow(half!, TOTAL / 4)
    budget.grow(other!, TOTAL / 4)
    budget.grow(begin('quarter', TOTAL), TOTAL / 4)
    budget.grow(begin('most', TOTAL / 4 + 1), TOTAL / 4)
    expect(budget.reserve(undefined, 1)).toBe(true)
    expect(refused).toEqual(['quarter'])
    expect(budget.grow(half!, TOTAL / 4)).toBe(TOTAL / 4)
    expect(refused).toEqual(['quarter', 'other half'])
  })

  test('X-3: refuses the asking body if it has the least progress, and never a complete one', () => {
    const { budget, refused, begin } = newBudget()
    const whole = begin('whole', TOTAL / 2)
    budget.grow(whole, TOTAL / 2)
    budget.end(whole)
    budget.grow(begin('most', TOTAL / 2 + 1), TOTAL / 2)
    const fresh = begin('new', TOTAL / 2)
    expect(budget.grow(fresh, STEP_BYTES)).toBe(undefined)
    budget.end(fresh)
    expect(budget.mayBegin(1)).toBe(true)
    expect(budget.reserve(undefined, TOTAL / 2)).toBe(true)
    expect([budget.reserve(undefined, 1), budget.mayBegin(1), budget.mayBegin(TOTAL + 1)]).toEqual([
      false,
      false,
      false,
    ])
    expect(refused).toEqual(['most'])
  })

  test('X-3: refuses a stalled body first, unless the gateway has paused reading', () => {
    const { now, budget, refused, begin } = newBudget()
    budget.grow(begin('not read', TOTAL / 2, { isPaused: true }), TOTAL / 4)
    budget.grow(begin('stalled', TOTAL / 2 + 1), TOTAL / 2)
    now.ms = 2_000
    budget.grow(begin('new', TOTAL), TOTAL / 4)
    expect(refused).toEqual([])
    expect(budget.reserve(undefined, 1)).toBe(true)
    expect(refused).toEqual(['stalled'])
  })

  test('X-3: a full share of a token refuses only bodies of that token', () => {
    const { budget, refused, begin } = newBudget()
    budget.grow(begin('of another', TOTAL), STEP_BYTES)
    budget.grow(begin('large', TOTAL / 2, { token: 'a' }), TOTAL / 4)
    budget.grow(begin('larger', TOTAL, { token: 'b' }), TOTAL / 4 + STEP_BYTES)
    expect(budget.reserve('a', 1)).toBe(true)
    expect(refused).toEqual(['large'])
  })
})
