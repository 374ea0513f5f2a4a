import { inspect } from 'node:util'
import { defaultHttpClientLimits, HttpClient } from '@penstock/delivery'
import type { EncodedChunk } from '@penstock/otlp'
import { ManualClock, refusedUrl, type ScriptedReply, ScriptedServer } from '@penstock/testkit'
import { afterEach, expect, test } from 'vitest'
import { EndpointError } from './endpoint-url.ts'
import { OtlpEndpoint, type OtlpEndpointOptions } from './otlp-endpoint.ts'

const cleanups: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

const TOKEN = 'psin_CANARY'
const nowMs = Date.UTC(2026, 0, 1)

async function setUp(script: readonly ScriptedReply[], change: Partial<OtlpEndpointOptions> = {}) {
  const server = await ScriptedServer.start(script)
  const client = new HttpClient({ ...defaultHttpClientLimits, keptReplyBytes: 1_000 })
  cleanups.push(
    () => server.close(),
    () => client.close(),
  )
  const clock = new ManualClock(nowMs)
  const options = { url: `${server.url}/otlp`, token: TOKEN, version: '1.2.3', client, clock, random: () => 0.5 }
  return { server, client, clock, endpoint: new OtlpEndpoint({ ...options, ...change }) }
}

const chunk: EncodedChunk = { signal: 'traces', encoding: 'protobuf', items: 7, body: Buffer.from('not looked at') }
const accepted: ScriptedReply = { play: 'reply', status: 200 }

test('sends the headers of OTLP and a user agent', async () => {
  const { server, endpoint } = await setUp([accepted])
  expect(await endpoint.sendChunk(chunk)).toEqual({
    outcome: { kind: 'delivered', rejectedItems: 0, message: '' },
    attempts: 1,
    status: 200,
    wireBytes: 13,
  })
  const [request] = server.requests
  expect(request).toMatchObject({ method: 'POST', path: '/otlp/v1/traces', body: chunk.body })
  expect(request?.headers).toMatchObject({
    'content-type': 'application/x-protobuf',
    'user-agent': 'penstock/1.2.3',
    authorization: `Bearer ${TOKEN}`,
  })
  expect(request?.headers).not.toHaveProperty('content-encoding')
})

test('chooses path and content type by signal and encoding', async () => {
  const { server, endpoint } = await setUp([accepted])
  await endpoint.sendChunk({ ...chunk, signal: 'logs', encoding: 'json' })
  expect(server.requests[0]?.path).toBe('/otlp/v1/logs')
  expect(server.requests[0]?.headers['content-type']).toBe('application/json')
})

test.each([undefined, ''])('sends no Authorization for the token %j', async (token) => {
  const { server, endpoint } = await setUp([accepted], { token })
  await endpoint.sendChunk(chunk)
  expect(server.requests[0]?.headers).not.toHaveProperty('authorization')
})

test.each(['with blank', 'line\n', 'grüße', '\u0000'])('refuses the token %j without quoting it', async (token) => {
  await expect(setUp([], { token })).rejects.toThrow(EndpointError)
  await expect(setUp([], { token })).rejects.not.toThrow(token)
})

const large: EncodedChunk = { ...chunk, body: Buffer.alloc(100_000, 'span') }

test('compresses a large body once for all attempts', async () => {
  const { server, clock, endpoint } = await setUp([{ play: 'reply', status: 503 }, accepted])
  const sending = endpoint.sendChunk(large)
  await clock.untilSleeping()
  await clock.advance(1_000)
  const { wireBytes, attempts } = await sending
  expect(attempts).toBe(2)
  expect(wireBytes).toBeLessThan(10_000)
  for (const request of server.requests) {
    expect(request.headers['content-encoding']).toBe('gzip')
    expect(request.wireBytes).toBe(wireBytes)
    expect(Buffer.compare(request.body, large.body)).toBe(0)
  }
})

test('does not compress if compression is off', async () => {
  const { server, endpoint } = await setUp([accepted], { gzip: false })
  expect((await endpoint.sendChunk(large)).wireBytes).toBe(100_000)
  expect(server.requests[0]?.headers).not.toHaveProperty('content-encoding')
})

test.each([
  ['429, seconds', { play: 'reply', status: 429, headers: { 'retry-after': '7' } }, 7_000],
  ['429, date', { play: 'reply', status: 429, headers: { 'retry-after': 'Thu, 01 Jan 2026 00:00:08 GMT' } }, 8_000],
  ['503, nothing said', { play: 'reply', status: 503 }, 500],
  ['502, nonsense', { play: 'reply', status: 502, headers: { 'retry-after': 'soon' } }, 500],
  ['504', { play: 'reply', status: 504 }, 500],
  ['a reset', { play: 'reset' }, 500],
  ['503 and a reset', { play: 'reset', status: 503, body: 'half' }, 500],
  ['garbage', { play: 'raw', bytes: 'garbage\r\n\r\n' }, 500],
] as const)('%s: tried again when it is time, and not before', async (_, reply, waitMs) => {
  const { server, clock, endpoint } = await setUp([reply, accepted])
  const notices: number[] = []
  const sending = endpoint.sendChunk(chunk, { onRetry: (notice) => notices.push(notice.waitMs) })
  await clock.untilSleeping()
  expect(clock.wakeTimesMs).toEqual([nowMs + waitMs])
  await clock.advance(waitMs - 1)
  expect(server.requests.length).toBe(1)
  await clock.advance(1)
  expect(await sending).toMatchObject({ outcome: { kind: 'delivered' }, attempts: 2, status: 200 })
  expect(notices).toEqual([waitMs])
})

test('makes the next attempt after the timeout of one', async () => {
  const { clock, endpoint } = await setUp([{ play: 'silence' }, accepted], { attemptTimeoutMs: 100 })
  const sending = endpoint.sendChunk(chunk)
  await clock.untilSleeping()
  await clock.advance(500)
  expect(await sending).toMatchObject({ outcome: { kind: 'delivered' }, attempts: 2 })
})

test('gives up when the time is over if the connection is refused', async () => {
  const url = await refusedUrl()
  const { clock, endpoint } = await setUp([], { url, retry: { baseMs: 1_000, capMs: 1_000, giveUpAfterMs: 1_200 } })
  const sending = endpoint.sendChunk(chunk)
  for (const ms of [500, 500]) {
    await clock.untilSleeping()
    await clock.advance(ms)
  }
  expect(await sending).toMatchObject({
    outcome: { kind: 'expired', reason: 'gave up after 3 attempts: connection refused (ECONNREFUSED)' },
    attempts: 3,
    status: undefined,
  })
})

test.each([
  ['protobuf', 'application/x-protobuf', Buffer.from('0a0b08031207746f6f206f6c64', 'hex')],
  ['json', 'application/json', '{"partialSuccess":{"rejectedSpans":"3","errorMessage":"too old"}}'],
] as const)('a partial success in %s is final', async (encoding, type, body) => {
  const { server, endpoint } = await setUp([{ play: 'reply', status: 200, headers: { 'content-type': type }, body }])
  const { outcome } = await endpoint.sendChunk({ ...chunk, encoding })
  expect(outcome).toEqual({ kind: 'delivered', rejectedItems: 3, message: 'too old' })
  expect(server.requests.length).toBe(1)
})

test.each([
  ['a reset', { play: 'reset', status: 200, body: '{"partial' }],
  ['more than we keep', { play: 'flood', status: 200 }],
  ['broken chunks', { play: 'raw', bytes: 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n' }],
] as const)('200 and then %s: accepted, and not sent twice', async (_, reply) => {
  const { server, endpoint } = await setUp([reply])
  const { outcome } = await endpoint.sendChunk(chunk)
  expect(outcome).toMatchObject({ kind: 'delivered', message: expect.stringMatching(/not known whether in full/) })
  expect(server.requests.length).toBe(1)
})

test('does not follow redirects, so neither data nor token reach another server', async () => {
  const elsewhere = await ScriptedServer.start([accepted])
  cleanups.push(() => elsewhere.close())
  const headers = { location: `${elsewhere.url}/v1/traces` }
  const { endpoint } = await setUp([{ play: 'reply', status: 301, headers }])
  expect(await endpoint.sendChunk(chunk)).toMatchObject({ outcome: { kind: 'dead' }, status: 301 })
  expect(elsewhere.requests).toEqual([])
})

test('reports a 401 as an authentication failure', async () => {
  const headers = { 'content-type': 'application/json' }
  const body = '{"code":16,"message":"the token has expired"}'
  const { endpoint } = await setUp([{ play: 'reply', status: 401, headers, body }])
  expect(await endpoint.sendChunk(chunk)).toMatchObject({
    outcome: { kind: 'dead', reason: 'HTTP 401 Unauthorized: the token has expired', authentication: true },
    status: 401,
  })
})

test('an abort ends a request and its retries', async () => {
  const { server, endpoint } = await setUp([{ play: 'silence' }])
  const stop = new AbortController()
  const sending = endpoint.sendChunk(chunk, { signal: stop.signal })
  await server.received(1)
  stop.abort()
  expect((await sending).outcome.kind).toBe('aborted')
  await server.requests[0]?.over
})

test('never shows the token, however often a server repeats it', async () => {
  const quote = (status: number): ScriptedReply => ({
    play: 'reply',
    status,
    headers: { 'content-type': 'application/json', location: `http://elsewhere.example/${TOKEN}` },
    body: JSON.stringify({ message: `Bearer ${TOKEN}`, partialSuccess: { errorMessage: TOKEN } }),
  })
  const script = [quote(200), quote(301), quote(400), quote(401), quote(403), quote(500), quote(503)]
  const { server, endpoint } = await setUp(script, { retry: { baseMs: 1, capMs: 1, giveUpAfterMs: 1 } })
  const seen: unknown[] = [endpoint]
  for (const _ of script) seen.push(await endpoint.sendChunk(chunk))
  server.requests.length = 0
  expect(seen.length).toBe(8)
  expect(inspect(seen, { depth: null, showHidden: true })).not.toContain('CANARY')
  expect(JSON.stringify(seen)).not.toContain('CANARY')
})

test('sends headers besides those of OTLP, and shows none of their values', async () => {
  const headers = { 'x-api-key': 'KEY-CANARY', authorization: 'Basic BASIC-CANARY', 'user-agent': 'mine' }
  const refusal = { status: 403, headers: { 'content-type': 'text/plain' }, body: 'no KEY-CANARY, no BASIC-CANARY' }
  const { server, endpoint } = await setUp([{ play: 'reply', ...refusal }], { headers, token: undefined })
  const { outcome } = await endpoint.sendChunk(chunk)
  expect(server.requests[0]?.headers).toMatchObject({ ...headers, 'content-type': 'application/x-protobuf' })
  expect(inspect([outcome, endpoint], { depth: 5 })).not.toContain('CANARY')
  expect(outcome).toMatchObject({ kind: 'dead', reason: 'HTTP 403 Forbidden: no [secret], no [secret]' })
})

test('a token and an Authorization header exclude each other', async () => {
  await expect(setUp([], { headers: { authorization: 'Basic x' } })).rejects.toThrow(EndpointError)
})
