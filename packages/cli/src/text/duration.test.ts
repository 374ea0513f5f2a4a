import { expect, test } from 'vitest'
import { formatDuration, formatTime } from './duration.ts'

test.each([
  { seconds: 0, text: '0s' },
  { seconds: 0.0000001, text: '1ms' },
  { seconds: 0.173, text: '173ms' },
  { seconds: 0.9994, text: '999ms' },
  { seconds: 0.9999, text: '1.0s' },
  { seconds: 31.66, text: '31.7s' },
  { seconds: 59.94, text: '59.9s' },
  { seconds: 59.96, text: '1m 00s' },
  { seconds: 297, text: '4m 57s' },
  { seconds: 3_599.6, text: '1h 00m' },
  { seconds: 3_720, text: '1h 02m' },
  { seconds: 183_600, text: '2d 03h' },
])('$seconds s is $text', ({ seconds, text }) => {
  expect(formatDuration(BigInt(Math.round(seconds * 1e9)))).toBe(text)
})

test('times are in UTC with seconds', () => {
  expect(formatTime(1_770_801_614_999_999_999n)).toBe('2026-02-11 09:20:14 UTC')
})
