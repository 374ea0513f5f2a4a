import { ManualClock } from '@penstock/testkit'
import { expect, test } from 'vitest'
import { networkOf, WindowLimiter } from './rate-limit.ts'

test.each([
  ['192.0.2.7', '192.0.2.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
  ['2001:DB8::1', '2001:db8:0:0'],
  ['fe80::1%eth0', 'fe80:0:0:0'],
  ['::1', '0:0:0:0'],
])('%s is counted as %s', (source, network) => {
  expect(networkOf(source)).toBe(network)
})

test('beyond a hundred thousand keys, further ones share their counts', async () => {
  const limiter = new WindowLimiter({ count: 5, periodSeconds: 60 }, new ManualClock(0))
  for (let key = 0; key < 100_000; key++) await limiter.count(`k${key}`)
  expect(await limiter.count('k7')).toMatchObject({ observed: 2, isAbove: false })
  const observed = await Promise.all(Array.from({ length: 3_000 }, (_, key) => limiter.count(`more${key}`)))
  expect(Math.max(...observed.map((count) => count.observed))).toBeGreaterThan(1)
})
