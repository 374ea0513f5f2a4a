import { expect, test } from 'vitest'
import { bodyFields } from '../body/fields.ts'
import { newWarnings } from '../record/warnings.ts'
import { goDuration } from './go-duration.ts'

test.each([
  [65_000_000_000, 65],
  [9_007_199_254_740_993n, 9_007_199.254740993],
  ['1h2m3.5s', 3723.5],
  ['250ms', 0.25],
  ['1.5µs', 0.0000015],
  [0, undefined],
  ['0', undefined],
  ['0s', undefined],
  [null, undefined],
])('%s is %s seconds', (given, seconds) => {
  const warnings = newWarnings()
  expect(goDuration(bodyFields({ duration: given }, warnings), 'duration')).toBe(seconds)
  expect(warnings.total).toBe(0)
})

test.each(['1 minute', '-5s', -5, 1.5, true, {}, '1m 2s'])('%j is unusable', (given) => {
  const warnings = newWarnings()
  expect(goDuration(bodyFields({ duration: given }, warnings), 'duration')).toBeUndefined()
  expect(warnings.total).toBe(1)
})
