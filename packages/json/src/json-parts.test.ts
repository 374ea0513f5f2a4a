import fc from 'fast-check'
import { expect, test } from 'vitest'
import { heaviestMember, jsonParts } from './json-parts.ts'

test('the parts of a value are its JSON', () => {
  const longText = fc
    .string({ unit: fc.constantFrom('a', '"', '\\', '\n', '\u0001', 'é', '😀', '\ud800'), maxLength: 20 })
    .map((text) => text.repeat(8_000))
  const values = fc.jsonValue({ maxDepth: 3 })
  fc.assert(
    fc.property(values, longText, (value, text) => {
      const long = { first: undefined, value, list: [text, undefined, value], text, at: new Date(0), none: null }
      expect([...jsonParts(long)].join('')).toBe(JSON.stringify(long))
    }),
    { numRuns: 10 },
  )
})

test('a surrogate pair at the border of two parts stays one character', () => {
  const text = `${'x'.repeat(256 * 1024 - 1)}😀${'y'.repeat(100_000)}`
  expect(JSON.parse([...jsonParts(text)].join(''))).toBe(text)
})

test('the heaviest member has the most text', () => {
  const row = { title: 'short', labels: [{ description: 'long '.repeat(9) }], description: 'x'.repeat(40) }
  expect([heaviestMember(row), heaviestMember([row]), heaviestMember('text')]).toEqual(['labels', 'labels', undefined])
})
