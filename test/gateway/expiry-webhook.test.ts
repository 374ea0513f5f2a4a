import { expect, test } from 'vitest'
import { startSink } from './accepting-sink.ts'
import { startGatewayAt } from './stepped-clock.ts'

const startMs = Date.parse('2026-11-21T07:03:00Z')
const DAY_MS = 86_400_000

test('O-9: posts to the configured webhook, and does not log its path', async () => {
  const sink = await startSink()
  const receiver = await startSink(() => ({ play: 'reply', status: 204 }))
  const gateway = await startGatewayAt(startMs, {
    PENSTOCK_UPSTREAM: sink.url,
    PENSTOCK_EXPIRY_WEBHOOK_URL: `${receiver.url}/hooks/s3cret`,
  })
  const { id } = await gateway.token({ name: 'ci-runners', expires_at: '2026-12-11T07:03:00Z' })
  await gateway.advanceTo(startMs + 6 * DAY_MS)
  await receiver.received(1)
  const [{ path, body }] = receiver.requests as [(typeof receiver.requests)[number]]
  expect([path, JSON.parse(Buffer.from(body).toString())]).toEqual([
    '/hooks/s3cret',
    {
      event: 'token.expiring',
      token_id: id,
      token_name: 'ci-runners',
      expires_at: '2026-12-11T07:03:00Z',
      expires_in_seconds: 1_209_600,
    },
  ])
  gateway.clock.resume()
  await gateway.stop()
  expect(gateway.logs()).not.toContain('s3cret')
})
