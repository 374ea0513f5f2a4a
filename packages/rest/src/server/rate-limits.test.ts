import { describe, expect, test } from 'vitest'
import { call, form, inRestWorld, world } from './things-server.harness.ts'

inRestWorld()

describe('rate limits', () => {
  const rateLimits = { anonymous: { count: 2, periodSeconds: 60 }, authenticated: { count: 3, periodSeconds: 90 } }
  /** The end of both periods: it is 04:05:06.789, and both the minute and the 90 seconds since 04:04:30 end at 04:06. */
  const endsAt = Date.UTC(2026, 1, 3, 4, 6) / 1_000

  test('apply to all requests of an address until the period ends', async () => {
    const first = await call('/api/v4/things', {}, { rateLimits })
    expect(Object.fromEntries(first.headers)).toMatchObject({
      'ratelimit-name': 'throttle_unauthenticated_api',
      'ratelimit-limit': '2',
      'ratelimit-observed': '1',
      'ratelimit-remaining': '1',
      'ratelimit-reset': String(endsAt),
    })
    expect((await call('/api/v4/no')).status).toBe(404)
    const third = await call('/api/v4/things')
    expect([third.status, third.text, third.headers.get('content-type')]).toEqual([429, 'Retry later\n', 'text/plain'])
    expect(Object.fromEntries(third.headers)).toMatchObject({
      'ratelimit-observed': '3',
      'ratelimit-remaining': '0',
      'ratelimit-resettime': 'Tue, 03 Feb 2026 04:06:00 GMT',
      'retry-after': '54',
    })
    world.clock.advance(53_211)
    expect((await call('/api/v4/things')).status).toBe(200)
  })

  test('apply to each user separately from the address', async () => {
    for (const observed of ['1', '2', '3']) {
      const { headers } = await call('/api/v4/things', { as: 'mira' }, { rateLimits })
      expect([
        headers.get('ratelimit-name'),
        headers.get('ratelimit-limit'),
        headers.get('ratelimit-observed'),
      ]).toEqual(['throttle_authenticated_api', '2', observed])
    }
    expect((await call('/api/v4/things', { as: 'mira' })).status).toBe(429)
    expect((await call('/api/v4/things')).status).toBe(200)
  })

  test('can be set for a single call', async () => {
    const create = () => call('/api/v4/things', { ...form('title=x'), as: 'mira' }, { rateLimits: 'off' })
    for (let made = 0; made < 3; made++) expect((await create()).status).toBe(201)
    const answer = await create()
    expect(answer.statusAndJson()).toEqual([
      429,
      { message: { error: 'This endpoint has been requested too many times. Try again later.' } },
    ])
    // The seconds until the period ends at 05:00.
    expect(answer.headers.get('retry-after')).toBe('3294')
    expect(answer.headers.get('ratelimit-limit')).toBeNull()
    world.clock.advance(3_293_211)
    expect((await create()).status).toBe(201)
  })
})
