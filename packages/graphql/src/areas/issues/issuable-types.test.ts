import { expect, test } from 'vitest'
import { iidIn } from './issuable-types.ts'

test.each([
  ['1', 1],
  ['1000000000', 1_000_000_000],
  ['9007199254740991', Number.MAX_SAFE_INTEGER],
  ['9007199254740992', 0],
  ['10000000000000000', 0],
  ['0', 0],
  ['01', 0],
  ['-1', 0],
  ['1.0', 0],
  ['1e3', 0],
  [' 1', 0],
  ['', 0],
])('parses the iid %j as %d', (text, number) => {
  expect(iidIn(text)).toBe(number)
})
