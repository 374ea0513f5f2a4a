import { expect, test } from 'vitest'
import { day, dayOrInstant } from './parameter-schemas.ts'

test.each([
  ['2026-03-04', '2026-03-04'],
  ['2026-03-04T00:00:00Z', '2026-03-04'],
  ['2026-03-04T23:59:59.999+02:00', '2026-03-04'],
  ['2026-03-04 10:00:00 UTC', '2026-03-04'],
  ['2026-02-30', undefined],
  ['2026-02-30T00:00:00Z', undefined],
  ['2026-03-04T25:00:00Z', undefined],
  ['2026-03', undefined],
  ['', undefined],
])('the date in %j is %j', (text, expected) => {
  expect([day, dayOrInstant].map((schema) => schema.safeParse(text).data)).toEqual([expected, expected])
})
