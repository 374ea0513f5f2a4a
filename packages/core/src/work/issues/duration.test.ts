import { expect, test } from 'vitest'
import { durationSeconds, durationText } from './duration.ts'

test.each([
  ['3h30m', 12_600],
  ['1w 2d', 201_600],
  ['1mo', 576_000],
  ['2 hours, 15 minutes', 8_100],
  ['1.5h', 5_400],
  ['2', 7_200],
  ['-1h', -3_600],
  ['0', 0],
  ['45s', 45],
])('%s is %i seconds', (text, seconds) => {
  expect(durationSeconds(text)).toBe(seconds)
})

test.each(['', ' ', 'foo', '1x', 'h', '1h foo', '999999999mo', `${'1'.repeat(255)}x`])('%s is no duration', (text) => {
  expect(durationSeconds(text)).toBeUndefined()
})

test('is written with its largest units first', () => {
  expect([12_600, 201_645, 576_000, -3_600, 0].map(durationText)).toEqual([
    '3h 30m',
    '1w 2d 45s',
    '1mo',
    '-1h',
    undefined,
  ])
})
