import fc from 'fast-check'
import { expect, test } from 'vitest'
import { cleanText, newTally } from './text.ts'

test.each([
  { name: 'a short text is unchanged', text: 'build 🚀 ١٢', maxBytes: 4096, expected: 'build 🚀 ١٢', truncated: 0 },
  {
    name: 'edge 31: NUL is removed, a lone surrogate becomes U+FFFD',
    text: 'a\0b\ud83d',
    maxBytes: 4096,
    expected: 'ab\ufffd',
    truncated: 0,
  },
  { name: 'edge 30: a code point is never split', text: 'aé🚀', maxBytes: 6, expected: 'aé', truncated: 1 },
  { name: 'a text of exactly the limit is not cut', text: 'aé🚀', maxBytes: 7, expected: 'aé🚀', truncated: 0 },
])('$name', ({ text, maxBytes, expected, truncated }) => {
  const tally = newTally()
  expect(cleanText(text, maxBytes, tally)).toBe(expected)
  expect(tally.truncatedTexts).toBe(truncated)
})

test('always well formed, within the limit, and a prefix of the cleaned text', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 60 }), fc.integer({ min: 4, max: 40 }), (text, maxBytes) => {
      const cut = cleanText(text, maxBytes, newTally())
      expect(cut.isWellFormed()).toBe(true)
      expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(maxBytes)
      expect(text.toWellFormed().replaceAll('\0', '').startsWith(cut)).toBe(true)
    }),
  )
})
