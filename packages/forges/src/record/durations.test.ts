import { expect, test } from 'vitest'
import { secondsBetween } from './durations.ts'

const second = 1_000_000_000n

test('seconds between two times', () => {
  expect(secondsBetween(second, 3n * second)).toBe(2)
  expect(secondsBetween(second, second)).toBe(0)
  expect(secondsBetween(3n * second, second)).toBeUndefined()
  expect(secondsBetween(undefined, second)).toBeUndefined()
})
