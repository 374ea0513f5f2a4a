import { expect, test } from 'vitest'
import { failureText, fieldErrors } from './management-errors.ts'

const failure = (code: string, details: unknown = null) => ({
  code,
  message: 'As the API says.',
  details,
})

test('tells what to do next where the API only tells what happened', () => {
  expect(failureText(failure('precondition_failed'))).toContain('try again')
  expect(failureText(failure('last_valid_token'))).toContain('Create another one first')
  expect(failureText(failure('store_unavailable'))).toBe('As the API says.')
})

test('puts each problem at its field, and problems of entries at their list', () => {
  const details = [
    { field: 'name', problem: 'too_long', max: 80 },
    { field: 'allowed_origins.0', problem: 'malformed' },
    { field: 'limits.all.day.bytes', problem: 'too_small', min: 1 },
  ]
  expect(fieldErrors(failure('invalid_field', details))).toEqual({
    name: 'At most 80 are allowed.',
    allowed_origins: 'Not in the form that the API accepts.',
    'limits.all.day.bytes': 'The lowest value is 1.',
  })
  expect(fieldErrors(failure('forbidden', { needed: [] }))).toEqual({})
})
