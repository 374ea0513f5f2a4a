import fc from 'fast-check'
import { expect, test } from 'vitest'
import { oneLine } from './one-line.ts'

test.each([
  ['plain', 'plain'],
  ['  two\r\n lines\t', 'two lines'],
  ['red \u001b[31malert', 'red [31malert'],
  ['right \u202eto left', 'right to left'],
  ['half a pair: \ud83d!', 'half a pair: !'],
  ['grüße 🙂', 'grüße 🙂'],
  ['', ''],
])('%j becomes %j', (text, expected) => {
  expect(oneLine(text)).toBe(expected)
})

test('ends a long text with an ellipsis, never within a character', () => {
  expect(oneLine('x'.repeat(300))).toBe('x'.repeat(300))
  expect(oneLine('🙂'.repeat(301))).toBe(`${'🙂'.repeat(299)}…`)
})

test('returns one short printable line for any text, and returns that line unchanged', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 500 }), (text) => {
      const line = oneLine(text)
      expect(line).toMatch(/^[^\p{C}]*$/u)
      expect([...line].length).toBeLessThanOrEqual(300)
      expect(oneLine(line)).toBe(line)
    }),
  )
})
