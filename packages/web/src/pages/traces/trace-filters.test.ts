import { expect, test } from 'vitest'
import { attributeConditions, parseDuration } from './trace-filters.ts'

test.each([
  ['1.5s', '1500000000'],
  ['200 ms', '200000000'],
  ['2m', '120000000000'],
  ['3', '3000000000'],
  ['0.5 µs', '500'],
  ['soon', null],
  ['', null],
  [null, null],
])('%s is %s ns', (text, nanoseconds) => {
  expect(parseDuration(text)).toBe(nanoseconds)
})

test('attributes are conditions joined by and', () => {
  expect(attributeConditions('http.route=/cart and a=b=c AND nonsense')).toEqual(['http.route=/cart', 'a=b=c'])
  expect(attributeConditions(null)).toEqual([])
})
