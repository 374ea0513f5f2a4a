import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isNews, type Told } from './pipeline-news.ts'

const told = (status: string, asOfMs?: number, digest = `${status} ${asOfMs}`): Told => ({ status, asOfMs, digest })

describe('what arrives is news', () => {
  test.each<[string, Told, Told, boolean]>([
    ['the same again', told('running', 5), told('running', 5), false],
    ['the same complete one again', told('success', 5), told('success', 5), false],
    ['a completion', told('running', 5), told('success', 9), true],
    ['a completion with earlier times', told('running', 9), told('canceled', 5), true],
    ['a completion without times', told('running', 9), told('skipped'), true],
    ['late, not complete', told('success', 9), told('running', 5), false],
    ['a retry that runs', told('failed', 9), told('running', 20), false],
    ['a later completion', told('failed', 9), told('success', 20), true],
    ['an earlier completion', told('success', 20), told('failed', 9), false],
    ['the same completion, told otherwise', told('success', 9, 'a'), told('success', 9, 'b'), false],
    ['later', told('pending', 5), told('running', 6), true],
    ['earlier', told('running', 6), told('pending', 5), false],
    ['equally late', told('pending', 5), told('running', 5), true],
    ['without times', told('pending'), told('running'), true],
    ['with times after one without', told('pending'), told('running', 1), true],
    ['without times after one with', told('running', 1), told('pending'), false],
    ['blocked is not complete', told('running', 5), told('manual', 6), true],
    ['an unknown word is not complete', told('success', 5), told('melting', 6), false],
  ])('%s', (_, former, next, expected) => {
    expect(isNews(former, next)).toBe(expected)
  })
})

test('however the records of a pipeline arrive, and however often, it ends the same', () => {
  const all = fc.uniqueArray(
    fc.record({
      status: fc.constantFrom('created', 'pending', 'running', 'manual', 'success', 'failed', 'canceled', 'skipped'),
      asOfMs: fc.integer({ min: 1, max: 1_000 }),
    }),
    { minLength: 1, maxLength: 8, selector: ({ asOfMs }) => asOfMs },
  )
  const arrivals = all.chain((records) => {
    const whole = records.map(({ status, asOfMs }) => told(status, asOfMs))
    const again = fc.subarray(whole).map((more) => [...whole, ...more])
    const orders = again.chain((some) => fc.shuffledSubarray(some, { minLength: some.length, maxLength: some.length }))
    return fc.tuple(orders, orders)
  })
  const end = (records: Told[]) => records.reduce((former, next) => (isNews(former, next) ? next : former))
  fc.assert(
    fc.property(arrivals, ([one, other]) => {
      expect(end(one)).toEqual(end(other))
    }),
  )
})
