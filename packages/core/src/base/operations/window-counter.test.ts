import { ManualClock } from '@penstock/testkit'
import { expect, test } from 'vitest'
import { WindowCounter } from './window-counter.ts'

test('counts each key in periods that begin at multiples of their length', async () => {
  const clock = new ManualClock(90_000)
  const counter = new WindowCounter(60, clock)
  expect(counter.count('a')).toEqual({ observed: 1, endsAtMs: 120_000, secondsLeft: 30 })
  expect([counter.count('a').observed, counter.count('b').observed, counter.peek('a').observed]).toEqual([2, 1, 3])
  counter.uncount('a')
  expect(counter.peek('a').observed).toBe(2)
  await clock.advance(29_999)
  expect(counter.peek('a')).toMatchObject({ observed: 2, secondsLeft: 1 })
  await clock.advance(1)
  expect(counter.count('a')).toEqual({ observed: 1, endsAtMs: 180_000, secondsLeft: 60 })
})

test('keys beyond the first 100,000 share counters', () => {
  const counter = new WindowCounter(60, new ManualClock(0))
  for (let key = 0; key < 100_000; key++) counter.count(`k${key}`)
  expect(counter.count('k7').observed).toBe(2)
  const observed = Array.from({ length: 3_000 }, (_, key) => counter.count(`more${key}`).observed)
  expect(Math.max(...observed)).toBeGreaterThan(1)
})
