import { type Clock, jsonLog, systemClock } from '@penstock/runtime'
import { ManualClock, type RecordedRequest, type ScriptedReply, ScriptedServer } from '@penstock/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { ENDED, type ExpiryNotice } from './expiry-warnings.ts'
import { ExpiryWebhook } from './expiry-webhook.ts'

const NOW_MS = Date.parse('2026-11-21T07:00:00Z')
const DAY_MS = 86_400_000
const received: ScriptedReply = { play: 'reply', status: 204 }

const noticeOf = (id: string, stepMs = DAY_MS): ExpiryNotice => ({
  token: {
    id,
    name: 'ci-runners',
    createdAtMs: 0,
    expiresAtMs: NOW_MS + DAY_MS - 500,
    disabled: false,
    warnedMs: undefined,
  },
  stepMs,
  isLast: false,
})

async function start(script: readonly ScriptedReply[], clock: Clock = new ManualClock(NOW_MS)) {
  const server = await ScriptedServer.start(script)
  const lines: Record<string, unknown>[] = []
  const watchers: (() => void)[] = []
  const write = (line: string) => {
    lines.push(JSON.parse(line))
    for (const resolve of watchers.splice(0)) resolve()
  }
  const webhook = new ExpiryWebhook({
    url: `${server.url}/hooks/s3cret`,
    clock,
    log: jsonLog({ write }, () => NOW_MS),
  })
  onTestFinished(async () => {
    await webhook.close()
    await server.close()
  })
  return { server, webhook, lines, nextLine: () => new Promise<void>((resolve) => watchers.push(resolve)) }
}

const payload = ({ body }: RecordedRequest) => JSON.parse(Buffer.from(body).toString()) as unknown

test('O-9: posts which token expires, and when', async () => {
  const { server, webhook } = await start([received, received])
  webhook.post(noticeOf('7Hq2mK9sT4bZ'))
  webhook.post(noticeOf('8Hq2mK9sT4bZ', ENDED))
  await server.received(2)
  expect(server.requests[0]).toMatchObject({
    method: 'POST',
    path: '/hooks/s3cret',
    headers: { 'content-type': 'application/json' },
  })
  expect(server.requests.map(payload)).toEqual([
    {
      event: 'token.expiring',
      token_id: '7Hq2mK9sT4bZ',
      token_name: 'ci-runners',
      expires_at: '2026-11-22T06:59:59.500Z',
      expires_in_seconds: 86_399,
    },
    expect.objectContaining({ event: 'token.expired', token_id: '8Hq2mK9sT4bZ' }),
  ])
})

/** Advances the clock until the condition holds. */
async function advanceUntil(clock: ManualClock, isOver: () => boolean): Promise<void> {
  await expect
    .poll(async () => {
      await clock.advance(1_000)
      return isOver()
    })
    .toBe(true)
}

test.each<[string, ScriptedReply]>([
  ['an error', { play: 'reply', status: 500, body: 'no' }],
  ['a redirect', { play: 'reply', status: 302, headers: { location: 'http://127.0.0.1:1/' } }],
  ['a reset', { play: 'reset' }],
  ['silence', { play: 'silence' }],
])('O-9: after %s the delivery is retried, up to three attempts', async (_, trouble) => {
  const clock = new ManualClock(NOW_MS)
  const { server, webhook, lines } = await start([trouble, trouble, received], clock)
  webhook.post(noticeOf('a'))
  await server.received(1)
  await advanceUntil(clock, () => server.requests.length === 3)
  expect(new Set(server.requests.map((request) => JSON.stringify(payload(request)))).size).toBe(1)
  expect(lines).toEqual([])
})

test('O-9: a failed delivery is logged without the secret path, and the next notice is delivered', async () => {
  const clock = new ManualClock(NOW_MS)
  const no: ScriptedReply = { play: 'reply', status: 403 }
  const { server, webhook, lines } = await start([no, no, no, received], clock)
  webhook.post(noticeOf('a'))
  webhook.post(noticeOf('b'))
  await advanceUntil(clock, () => server.requests.length === 4)
  expect(payload(server.requests[3]!)).toMatchObject({ token_id: 'b' })
  expect(lines).toEqual([
    expect.objectContaining({ level: 'warn', event: 'expiry.notice_failed', token_id: 'a', host: expect.any(String) }),
  ])
  expect(JSON.stringify(lines)).toContain('403')
  expect(JSON.stringify(lines)).not.toContain('s3cret')
})

test('O-9: close does not wait for a slow receiver', async () => {
  const { server, webhook, lines } = await start([{ play: 'silence' }], systemClock)
  webhook.post(noticeOf('a'))
  webhook.post(noticeOf('b'))
  await server.received(1)
  await webhook.close()
  expect(lines.map(({ event, token_id }) => [event, token_id])).toEqual([
    ['expiry.notice_failed', 'a'],
    ['expiry.notice_failed', 'b'],
  ])
})

test('O-9: the number of pending notices is bounded', async () => {
  const { server, webhook, lines } = await start([{ play: 'silence' }], systemClock)
  for (let index = 0; index <= 1_001; index += 1) webhook.post(noticeOf(`t${index}`))
  await server.received(1)
  expect(lines.map(({ token_id }) => token_id)).toEqual(['t1001'])
})
