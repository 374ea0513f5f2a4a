import fc from 'fast-check'
import { expect, test } from 'vitest'
import { escapedHtml } from './escaped-html.ts'

test('escapes each character that has a meaning in HTML, and no other', () => {
  const entities: Readonly<Record<string, string>> = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '"': '&quot;',
    "'": '&#39;',
  }
  const text = fc.string({ unit: fc.constantFrom('&', '<', '>', '"', "'", 'a', ';', '\u{1f600}', '\ud83d') })
  fc.assert(
    fc.property(text, (given) => {
      expect(escapedHtml(given)).toBe(given.replaceAll(/[&<>"']/g, (character) => entities[character]!))
    }),
  )
})
