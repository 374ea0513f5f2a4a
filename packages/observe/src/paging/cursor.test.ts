import { expect, test } from 'vitest'
import { fromCursor, toCursor, toPage } from './cursor.ts'

test('a cursor returns its position, to the last digit and character', () => {
  const position = ['9223372036854775807', 'naïve "text"\u0000']
  expect(fromCursor('logs', ['integer', 'text'], toCursor('logs', position))).toEqual(position)
})

test.each([
  ['of another list', toCursor('traces', ['1', '2'])],
  ['with fewer values', toCursor('logs', ['1'])],
  ['with a number beyond SQLite', toCursor('logs', ['9223372036854775808', '1'])],
  ['with a value of another form', toCursor('logs', ['-1', '1'])],
  ['that is cut', toCursor('logs', ['1', '2']).slice(0, -3)],
  ['that is empty', ''],
])('a cursor %s is refused', (_, cursor) => {
  expect(fromCursor('logs', ['integer', 'integer'], cursor)).toBeUndefined()
})

test('a page has a next one if there are more rows, or if the answer is full', () => {
  const rows = ['a', 'b', 'c'].map((item) => ({ row: item, item }))
  expect(toPage(rows, { limit: 2, isTruncated: false }, (row) => [row])).toEqual({ items: ['a', 'b'], next: ['b'] })
  expect(toPage(rows, { limit: 3, isTruncated: false }, (row) => [row])).toEqual({
    items: ['a', 'b', 'c'],
    next: undefined,
  })
  expect(toPage(rows, { limit: 5, isTruncated: true }, (row) => [row])).toEqual({ items: ['a', 'b', 'c'], next: ['c'] })
})
