import { HttpClient } from '@penstock/delivery'
import { ManualClock } from '@penstock/testkit'
import { expect, test } from 'vitest'
import { EndpointCache } from './endpoint-cache.ts'

test('keeps one endpoint per URL and token, and evicts the least recently used one', async () => {
  const client = new HttpClient()
  const cache = new EndpointCache({ version: '1', client, clock: new ManualClock(), random: () => 0 }, 2)
  const [a, b] = [
    { url: 'http://a.example', token: undefined },
    { url: 'http://a.example', token: 'b' },
  ]
  const first = cache.of(a)
  const other = cache.of(b)
  expect(other).not.toBe(first)
  expect(cache.of({ ...a })).toBe(first)
  cache.of({ url: 'http://c.example', token: undefined })
  expect(cache.of(a)).toBe(first)
  expect(cache.of(b)).not.toBe(other)
  await client.close()
})
