import { expect, test } from 'vitest'
import { rowHeights, visibleRows } from './row-window.ts'

test('rows of one height', () => {
  const rows = rowHeights(10_000, 28)
  expect(rows.total).toBe(280_000)
  expect(visibleRows(rows, 2_800, 280, 0)).toEqual({ first: 100, end: 111 })
  expect(visibleRows(rows, 0, 280, 5)).toEqual({ first: 0, end: 16 })
  expect(visibleRows(rows, 279_720, 280, 5)).toEqual({ first: 9_985, end: 10_000 })
})

test('rows of different heights', () => {
  const rows = rowHeights(4, (index) => (index % 2 === 0 ? 50 : 28))
  expect([0, 1, 2, 3, 4].map(rows.offsetOf)).toEqual([0, 50, 78, 128, 156])
  expect(visibleRows(rows, 49, 30, 0)).toEqual({ first: 0, end: 3 })
})

test('an empty list has no rows', () => {
  expect(visibleRows(rowHeights(0, 28), 0, 280, 5)).toEqual({ first: 0, end: 0 })
})
