import { expect, test } from 'vitest'
import { FailureLimit } from './failure-limit.ts'

test('limits a key for the rest of the minute after too many failures', () => {
  const limit = new FailureLimit(2)
  expect(limit.count('a', 60_000)).toBe(true)
  expect(limit.secondsLeft('a', 61_000)).toBe(0)
  expect(limit.count('a', 61_000)).toBe(false)
  expect(limit.secondsLeft('a', 61_000)).toBe(59)
  expect(limit.secondsLeft('a', 119_999)).toBe(1)
  expect(limit.secondsLeft('b', 119_999)).toBe(0)
  expect(limit.secondsLeft('a', 120_000)).toBe(0)
})

test('counts at most 10,000 keys, and does not limit further ones', () => {
  const limit = new FailureLimit(1)
  for (let key = 0; key < 10_000; key += 1) limit.count(String(key), 0)
  expect(limit.count('10000', 0)).toBe(false)
  expect(limit.secondsLeft('9999', 0)).toBe(60)
  expect(limit.secondsLeft('10000', 0)).toBe(0)
})
