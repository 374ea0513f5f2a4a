import { expect, test } from 'vitest'
import { sparkline } from './sparkline.ts'

test('draws values from the lowest to the highest, and skips parts without one', () => {
  expect(sparkline([1, 2, null, 3])).toBe('M2 18L32.7 10L94 2')
})

test('one value is no line', () => {
  expect(sparkline([null, 4])).toBe('')
})

test('values that are all the same are a level line', () => {
  expect(sparkline([5, 5])).toBe('M2 18L94 18')
})

test('a line of counts can begin at zero', () => {
  expect(sparkline([5, 10], 0)).toBe('M2 10L94 2')
})
