import { expect, test } from 'vitest'
import { differenceText, durationText } from './duration.ts'

test.each([
  [0, '0 s'],
  [0.000_085, '85 µs'],
  [0.0123, '12 ms'],
  [0.0994, '99 ms'],
  [0.3, '0.3 s'],
  [13.64, '13.6 s'],
  [59.94, '59.9 s'],
  [59.97, '1m 00s'],
  [262, '4m 22s'],
  [3599.4, '59m 59s'],
  [3599.6, '1h 00m'],
  [3720, '1h 02m'],
  [86_399, '1d 00h'],
  [180_000, '2d 02h'],
  [-4, '−4.0 s'],
])('%d s is shown as %s', (seconds, text) => {
  expect(durationText(seconds)).toBe(text)
})

test('a duration that is not known is a dash', () => {
  expect([durationText(null), durationText(Number.NaN)]).toEqual(['–', '–'])
})

test('a difference has its sign', () => {
  expect([differenceText(48), differenceText(-65), differenceText(0)]).toEqual(['+48.0 s', '−1m 05s', '0 s'])
})
