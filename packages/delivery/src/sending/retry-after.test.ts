import fc from 'fast-check'
import { expect, test } from 'vitest'
import { MAX_RETRY_AFTER_MS, retryAfterMs } from './retry-after.ts'

const nowMs = Date.UTC(1994, 10, 6, 8, 49, 0)

test.each([
  ['120', 120_000],
  [' 7 ', 7_000],
  ['0', 0],
  ['Sun, 06 Nov 1994 08:49:37 GMT', 37_000],
  ['Sunday, 06-Nov-94 08:49:37 GMT', 37_000],
  ['Sun Nov  6 08:49:37 1994', 37_000],
])('%j asks for %i ms', (header, expected) => {
  expect(retryAfterMs(header, nowMs)).toBe(expected)
})

test.each([
  undefined,
  '',
  '-1',
  '1.5',
  '1e3',
  '0x10',
  '5, 10',
  'soon',
  'Infinity',
  '1994-11-06T08:49:37Z',
  'Sun, 06 Nov 1994 08:49:37',
  'Sun, 06 Foo 1994 08:49:37 GMT',
  'Sun, 06 Nov 1994 08:48:59 GMT',
])('%j asks for nothing', (header) => {
  expect(retryAfterMs(header, nowMs)).toBe(0)
})

test.each(['3601', '99999999999999999999999', 'Sun, 06 Nov 2094 08:49:37 GMT'])('limits %j to an hour', (header) => {
  expect(retryAfterMs(header, nowMs)).toBe(MAX_RETRY_AFTER_MS)
})

test('returns a whole number within the limits for any header', () => {
  const headers = fc.oneof(fc.string(), fc.integer().map(String), fc.date().map(String))
  fc.assert(
    fc.property(headers, fc.nat(), (header, atMs) => {
      const waitMs = retryAfterMs(header, atMs)
      expect(Number.isInteger(waitMs)).toBe(true)
      expect(waitMs).toBeGreaterThanOrEqual(0)
      expect(waitMs).toBeLessThanOrEqual(MAX_RETRY_AFTER_MS)
    }),
  )
})

test('reads a date in each of its forms', () => {
  const seconds = fc.integer({ min: 1, max: 3_600 })
  fc.assert(
    fc.property(seconds, (ahead) => {
      expect(retryAfterMs(new Date(nowMs + ahead * 1_000).toUTCString(), nowMs)).toBe(retryAfterMs(`${ahead}`, nowMs))
    }),
  )
})
