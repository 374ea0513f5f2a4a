import { expect, test } from 'vitest'
import { MalformedForm } from './malformed-form.ts'
import { urlEncodedEntries } from './urlencoded.ts'

test.each([
  ['', []],
  ['a', [['a', '']]],
  [
    '&a=1&&b=2=3',
    [
      ['a', '1'],
      ['b', '2=3'],
    ],
  ],
  ['a%5Bb%5D=x%20y+z%2B', [['a[b]', 'x y z+']]],
  [
    'a=100%&b=%zz',
    [
      ['a', '100%'],
      ['b', '%zz'],
    ],
  ],
])('%j', (text, entries) => {
  expect(urlEncodedEntries(text)).toEqual(entries)
})

test('accepts at most 1,000 entries', () => {
  expect(urlEncodedEntries('a&'.repeat(1_000))).toHaveLength(1_000)
  expect(() => urlEncodedEntries('a&'.repeat(1_001))).toThrow(MalformedForm)
})

test('does not count empty parts as entries', () => {
  expect(urlEncodedEntries(`${'&'.repeat(1_001)}a=1${'&'.repeat(5_000)}b=2`)).toEqual([
    ['a', '1'],
    ['b', '2'],
  ])
})
