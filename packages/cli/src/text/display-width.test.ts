import fc from 'fast-check'
import { expect, test } from 'vitest'
import { displayWidth, fitted, paddedEnd } from './display-width.ts'

test.each([
  { text: 'compile', width: 7 },
  { text: 'übersetzen', width: 10 },
  { text: 'e\u0301', width: 1 },
  { text: '試験', width: 4 },
  { text: '한국', width: 4 },
  { text: '🍺', width: 2 },
  { text: '👩🏽‍🔬', width: 2 },
  { text: '❤️', width: 2 },
  { text: '✓ ├─ … №', width: 8 },
  { text: 'שלום', width: 4 },
])('$text takes $width', ({ text, width }) => {
  expect(displayWidth(text)).toBe(width)
})

test.each([
  { text: 'compile', width: 7, cut: 'compile' },
  { text: 'compile', width: 6, cut: 'compi…' },
  { text: '試験', width: 3, cut: '試…' },
  { text: '試験', width: 2, cut: '…' },
  { text: 'compile', width: 0, cut: '' },
])('$text on $width', ({ text, width, cut }) => {
  expect(fitted(text, width)).toBe(cut)
})

test('a text that is fitted and padded has exactly the width', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 1, max: 30 }), (text, width) => {
      expect(displayWidth(paddedEnd(fitted(text, width), width))).toBe(width)
    }),
  )
})
