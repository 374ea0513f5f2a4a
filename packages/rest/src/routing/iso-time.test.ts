import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isoTime } from './iso-time.ts'

test('an absent time is null', () => {
  expect(isoTime(undefined)).toBeNull()
})

test.each([
  [0, '1970-01-01T00:00:00.000Z'],
  [1_795_953_599_007, '2026-11-29T11:59:59.007Z'],
  [253_402_300_800_000, '+010000-01-01T00:00:00.000Z'],
  [-1, '1969-12-31T23:59:59.999Z'],
])('%d is %s', (ms, text) => {
  expect(isoTime(ms)).toBe(text)
})

test('every time has the text of a Date', () => {
  const times = fc.oneof(fc.integer({ min: 0, max: 4e12 }), fc.integer({ min: -8.64e15, max: 8.64e15 }), fc.double())
  fc.assert(
    fc.property(times, (ms) => {
      if (Number.isNaN(new Date(ms).getTime())) expect(() => isoTime(ms)).toThrow(RangeError)
      else expect(isoTime(ms)).toBe(new Date(ms).toISOString())
    }),
  )
})
