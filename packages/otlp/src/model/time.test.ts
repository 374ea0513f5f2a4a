import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fromHrTime, toHrTime } from './time.ts'

test.each([
  { nanoseconds: 0n, hrTime: [0, 0] },
  { nanoseconds: 1_700_000_000_123_456_789n, hrTime: [1_700_000_000, 123_456_789] },
  { nanoseconds: -1n, hrTime: [-1, 999_999_999] },
])('$nanoseconds', ({ nanoseconds, hrTime }) => {
  expect(toHrTime(nanoseconds)).toEqual(hrTime)
})

test('fromHrTime is the inverse of toHrTime', () => {
  fc.assert(
    fc.property(fc.bigInt(-(2n ** 63n), 2n ** 64n), (nanoseconds) => {
      expect(fromHrTime(toHrTime(nanoseconds))).toBe(nanoseconds)
    }),
  )
})
