import { expect, test } from 'vitest'
import { newWarnings } from '../record/warnings.ts'
import { bodyFields } from './fields.ts'
import { userName } from './user-name.ts'

test.each([
  ['Mira Lind', 'Mira Lind'],
  ['mira@example.com', undefined],
  ['Mira <mira@example.com>', undefined],
  ['@mira', '@mira'],
  ['', undefined],
])('the name %j', (name, expected) => expect(userName(bodyFields({ name }, newWarnings()), 'name')).toBe(expected))

test('a long name is read in time that grows with its length', () => {
  const name = 'a@'.repeat(500_000)
  expect(userName(bodyFields({ name }, newWarnings()), 'name')).toBe(name)
})
