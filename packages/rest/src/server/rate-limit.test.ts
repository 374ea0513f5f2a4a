import { ManualClock } from '@penstock/testkit'
import { expect, test } from 'vitest'
import { WindowLimiter } from './rate-limit.ts'

test('keys beyond the first 100,000 share counters', async () => {
  const limiter = new WindowLimiter({ count: 5, periodSeconds: 60 }, new ManualClock(0))
  for (let key = 0; key < 100_000; key++) await limiter.count(`k${key}`)
  expect(await limiter.count('k7')).toMatchObject({ observed: 2, isAbove: false })
  const observed = await Promise.all(Array.from({ length: 3_000 }, (_, key) => limiter.count(`more${key}`)))
  expect(Math.max(...observed.map((count) => count.observed))).toBeGreaterThan(1)
})
