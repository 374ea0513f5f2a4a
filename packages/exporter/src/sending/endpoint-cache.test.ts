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
  const first = cache.get(a)
  const other = cache.get(b)
  expect(other).not.toBe(first)
  expect(cache.get({ ...a })).toBe(first)
  cache.get({ url: 'http://c.example', token: undefined })
  expect(cache.get(a)).toBe(first)
  expect(cache.get(b)).not.toBe(other)
  await client.close()
})
