import { expect, test } from 'vitest'
import { agoText, localText, toMilliseconds, utcText } from './time.ts'

const at = Date.parse('2026-11-22T11:02:29.996Z')

test('times are nanoseconds as text, or RFC 3339', () => {
  expect([toMilliseconds('1795345349996123456'), toMilliseconds('2026-11-22T11:02:29.996Z')]).toEqual([at, at])
})

test('a time is shown in the zone of the viewer, and in UTC', () => {
  expect(localText(at, 'second', at, 'Europe/Berlin')).toBe('22 Nov, 12:02:29')
  expect(localText(at, 'clock', at, 'UTC')).toBe('11:02:29.996')
  expect(localText(at, 'time', at + 1e11, 'UTC')).toBe('11:02')
  expect(localText(at, 'day', at + 1e11, 'UTC')).toBe('22 Nov 2026')
  expect(utcText(at)).toBe('2026-11-22 11:02:29 UTC')
})

test.each([
  [10_000, 'just now'],
  [119_000, '1 min ago'],
  [7_200_000, '2 h ago'],
  [86_400_000 * 3, '3 d ago'],
  [-300_000, 'in 5 min'],
])('%d ms before now is %s', (passed, text) => {
  expect(agoText(at - passed, at)).toBe(text)
})
