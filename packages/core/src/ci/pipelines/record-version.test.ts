import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isNewer, type RecordVersion } from './record-version.ts'

const version = (status: string, asOfMs?: number, digest = `${status} ${asOfMs}`): RecordVersion => ({
  status,
  asOfMs,
  digest,
})

describe('an arriving record is newer', () => {
  test.each<[string, RecordVersion, RecordVersion, boolean]>([
    ['the same again', version('running', 5), version('running', 5), false],
    ['the same complete one again', version('success', 5), version('success', 5), false],
    ['a completion', version('running', 5), version('success', 9), true],
    ['a completion with earlier times', version('running', 9), version('canceled', 5), true],
    ['a completion without times', version('running', 9), version('skipped'), true],
    ['late, not complete', version('success', 9), version('running', 5), false],
    ['a retry that runs', version('failed', 9), version('running', 20), false],
    ['a later completion', version('failed', 9), version('success', 20), true],
    ['an earlier completion', version('success', 20), version('failed', 9), false],
    ['the same completion with other content', version('success', 9, 'a'), version('success', 9, 'b'), false],
    ['later', version('pending', 5), version('running', 6), true],
    ['earlier', version('running', 6), version('pending', 5), false],
    ['equally late', version('pending', 5), version('running', 5), true],
    ['without times', version('pending'), version('running'), true],
    ['with times after one without', version('pending'), version('running', 1), true],
    ['without times after one with', version('running', 1), version('pending'), false],
    ['blocked is not complete', version('running', 5), version('manual', 6), true],
    ['an unknown word is not complete', version('success', 5), version('melting', 6), false],
  ])('%s', (_, former, next, expected) => {
    expect(isNewer(former, next)).toBe(expected)
  })
})

test('records that arrive in any order, and more than once, lead to the same result', () => {
  const all = fc.uniqueArray(
    fc.record({
      status: fc.constantFrom('created', 'pending', 'running', 'manual', 'success', 'failed', 'canceled', 'skipped'),
      asOfMs: fc.integer({ min: 1, max: 1_000 }),
    }),
    { minLength: 1, maxLength: 8, selector: ({ asOfMs }) => asOfMs },
  )
  const arrivals = all.chain((records) => {
    const whole = records.map(({ status, asOfMs }) => version(status, asOfMs))
    const again = fc.subarray(whole).map((more) => [...whole, ...more])
    const orders = again.chain((some) => fc.shuffledSubarray(some, { minLength: some.length, maxLength: some.length }))
    return fc.tuple(orders, orders)
  })
  const end = (records: RecordVersion[]) => records.reduce((former, next) => (isNewer(former, next) ? next : former))
  fc.assert(
    fc.property(arrivals, ([one, other]) => {
      expect(end(one)).toEqual(end(other))
    }),
  )
})
