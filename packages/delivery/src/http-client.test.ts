import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Gate, refusedUrl, type ScriptedReply, ScriptedServer } from '@penstock/testkit'
import { afterEach, describe, expect, test } from 'vitest'
import { AllowedHosts } from './allowed-hosts.ts'
import { defaultHttpClientLimits, HttpClient, type HttpClientLimits, type HttpRequest } from './http-client.ts'

const cleanups: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

async function setUp(script: readonly ScriptedReply[], limits: Partial<HttpClientLimits> = {}) {
  const server = await ScriptedServer.start(script)
  const client = new HttpClient({ ...defaultHttpClientLimits, ...limits })
  cleanups.push(
    () => server.close(),
    () => client.close(),
  )
  return { server, client }
}

function post(url: string, change: Partial<HttpRequest> = {}): HttpRequest {
  return {
    method: 'POST',
    url: new URL(url),
    headers: { 'content-type': 'text/plain', authorization: 'Bearer CANARY' },
    body: Buffer.from('hello'),
    timeoutMs: 20_000,
    ...change,
  }
}

const ok: ScriptedReply = { play: 'reply', status: 200, headers: { 'x-one': '1' }, body: 'fine' }
const text = (bytes: Uint8Array) => Buffer.from(bytes).toString()

test('a request goes out as it is, a reply comes back as it is', async () => {
  const { server, client } = await setUp([ok])
  const reply = await client.send(post(`${server.url}/a/b?c=d`))
  expect(server.requests[0]).toMatchObject({
    method: 'POST',
    path: '/a/b?c=d',
    headers: { 'content-type': 'text/plain', 'content-length': '5' },
    body: Buffer.from('hello'),
  })
  expect(reply).toMatchObject({ kind: 'reply', status: 200, headers: { 'x-one': '1' }, truncated: false })
  expect(reply.kind === 'reply' && text(reply.body)).toBe('fine')
})

test('GET has no body', async () => {
  const { server, client } = await setUp([ok])
  await client.send(post(server.url, { method: 'GET', body: new Uint8Array() }))
  expect(server.requests[0]).toMatchObject({ method: 'GET', wireBytes: 0 })
  expect(server.requests[0]?.headers).not.toHaveProperty('content-length')
  expect(server.requests[0]?.headers).not.toHaveProperty('transfer-encoding')
})

test('connections are kept, and no more than allowed are opened', async () => {
  const gate = new Gate()
  const ports = new Set<number | undefined>()
  const server = createServer(async (request, response) => {
    ports.add(request.socket.remotePort)
    await gate.opened
    response.end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const client = new HttpClient({ ...defaultHttpClientLimits, connections: 2 })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const sending = Array.from({ length: 10 }, () => client.send(post(url)))
  gate.open()
  await Promise.all(sending)
  await client.close()
  server.close()
  expect(ports.size).toBe(2)
})

test('a redirect is a reply, and its target hears nothing', async () => {
  const elsewhere = await ScriptedServer.start([ok])
  cleanups.push(() => elsewhere.close())
  const location = `${elsewhere.url}/v1/traces`
  const redirects = [301, 302, 303, 307, 308].map(
    (status) => ({ play: 'reply', status, headers: { location } }) as const,
  )
  const { server, client } = await setUp(redirects)
  for (const { status } of redirects) {
    expect(await client.send(post(server.url))).toMatchObject({ kind: 'reply', status, headers: { location } })
  }
  expect(elsewhere.requests).toEqual([])
})

test('nobody listens', async () => {
  const { client } = await setUp([])
  expect(await client.send(post(await refusedUrl()))).toEqual({
    kind: 'failure',
    code: 'ECONNREFUSED',
    reason: 'connection refused (ECONNREFUSED)',
  })
})

test('a name that does not exist', async () => {
  const { client } = await setUp([])
  const result = await client.send(post('http://collector.invalid/'))
  expect(result).toMatchObject({ kind: 'failure', reason: expect.stringMatching(/^host name not found/) })
})

test('a reset before the head', async () => {
  const { server, client } = await setUp([{ play: 'reset' }])
  const result = await client.send(post(server.url))
  expect(result).toMatchObject({
    kind: 'failure',
    reason: expect.stringMatching(/^connection closed before an answer/),
  })
})

test.each([undefined, 'the beginning'])('a reset after the head and %j: the status counts', async (body) => {
  const { server, client } = await setUp([{ play: 'reset', status: 400, ...(body && { body }) }])
  const result = await client.send(post(server.url))
  expect(result).toMatchObject({ kind: 'reply', status: 400, truncated: true })
})

test('no answer: the deadline ends it, and the server sees us go', async () => {
  const { server, client } = await setUp([{ play: 'silence' }])
  expect(await client.send(post(server.url, { timeoutMs: 100 }))).toEqual({
    kind: 'failure',
    code: 'PENSTOCK_DEADLINE',
    reason: 'no answer in time',
  })
  await server.requests[0]?.over
})

test('a head and then no body: the deadline ends it, the status counts', async () => {
  const { server, client } = await setUp([{ play: 'stall', status: 200, body: 'some' }])
  const reply = await client.send(post(server.url, { timeoutMs: 100 }))
  expect(reply).toMatchObject({ kind: 'reply', status: 200, truncated: true })
  expect(reply.kind === 'reply' && text(reply.body)).toBe('some')
  await server.requests[0]?.over
})

test('silence within the time allowed for headers', async () => {
  const { server, client } = await setUp([{ play: 'silence' }], { headersTimeoutMs: 100 })
  const result = await client.send(post(server.url))
  expect(result).toMatchObject({ kind: 'failure', code: 'UND_ERR_HEADERS_TIMEOUT' })
})

test('the deadline covers waiting for a free connection', async () => {
  const { server, client } = await setUp([{ play: 'silence' }], { connections: 1 })
  const stop = new AbortController()
  const first = client.send(post(server.url), stop.signal)
  await server.received(1)
  expect(await client.send(post(server.url, { timeoutMs: 50 }))).toMatchObject({ code: 'PENSTOCK_DEADLINE' })
  stop.abort()
  expect(await first).toMatchObject({ code: 'PENSTOCK_ABORTED' })
  expect(server.requests.length).toBe(1)
})

test('an abort ends the request, before or during it', async () => {
  const { server, client } = await setUp([{ play: 'silence' }])
  const aborted = { kind: 'failure', code: 'PENSTOCK_ABORTED', reason: 'stopped while waiting for an answer' }
  expect(await client.send(post(server.url), AbortSignal.abort())).toEqual(aborted)
  expect(server.requests).toEqual([])

  const stop = new AbortController()
  const sending = client.send(post(server.url), stop.signal)
  await server.received(1)
  stop.abort()
  expect(await sending).toEqual(aborted)
  await server.requests[0]?.over
})

test('an endless reply is cut at the cap, and the next request is served', async () => {
  const { server, client } = await setUp([{ play: 'flood', status: 200 }, ok], { keptReplyBytes: 10_000 })
  const reply = await client.send(post(server.url))
  expect(reply).toMatchObject({ kind: 'reply', status: 200, truncated: true })
  expect(reply.kind === 'reply' && reply.body.length).toBe(10_000)
  await server.requests[0]?.over
  expect(await client.send(post(server.url))).toMatchObject({ status: 200, truncated: false })
})

test('a reply of exactly the cap is whole', async () => {
  const { server, client } = await setUp([{ ...ok, body: 'x'.repeat(100) }], { keptReplyBytes: 100 })
  expect(await client.send(post(server.url))).toMatchObject({ status: 200, truncated: false })
})

test.each([
  ['no HTTP at all', 'SSH-2.0-OpenSSH_9.6\r\n'],
  ['an impossible status line', 'HTTP/1.1 abc\r\n\r\n'],
  ['headers without an end', `HTTP/1.1 200 OK\r\nx: ${'x'.repeat(100_000)}`],
])('%s', async (_, bytes) => {
  const { server, client } = await setUp([{ play: 'raw', bytes }])
  const result = await client.send(post(server.url))
  expect(result).toMatchObject({ kind: 'failure', reason: expect.stringMatching(/^the answer is not HTTP/) })
})

test('chunked garbage: the status counts', async () => {
  const bytes = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\nnonsense'
  const { server, client } = await setUp([{ play: 'raw', bytes }])
  expect(await client.send(post(server.url))).toMatchObject({ kind: 'reply', status: 200, truncated: true })
})

test('https towards a port that speaks plain http', async () => {
  const { server, client } = await setUp([])
  const result = await client.send(post(server.url.replace('http:', 'https:')))
  expect(result).toMatchObject({ kind: 'failure', reason: expect.stringMatching(/^TLS handshake failed/) })
  expect(server.requests).toEqual([])
})

test('a mistake of the caller is thrown, without the value', async () => {
  const { server, client } = await setUp([])
  const sending = client.send(post(server.url, { headers: { authorization: 'Bearer CANARY\n' } }))
  await expect(sending).rejects.toThrow(/^(?!.*CANARY)/)
})

test('closing waits for what is under way', async () => {
  const gate = new Gate()
  const { server, client } = await setUp([{ ...ok, after: gate.opened }])
  const sending = client.send(post(server.url))
  await server.received(1)
  const closing = client.close()
  cleanups.pop()
  gate.open()
  expect(await sending).toMatchObject({ status: 200 })
  await closing
})

test.each([
  { name: 'by name', host: 'localhost' },
  { name: 'by address', host: '127.0.0.1' },
])('an address that the policy forbids is never connected to: $name', async ({ host }) => {
  const { server } = await setUp([ok])
  let allowsLocal = false
  const allowed = new AllowedHosts([])
  const client = new HttpClient(defaultHttpClientLimits, () => ({ allowsLocal, deniesOthers: false, allowed }))
  cleanups.push(() => client.close())
  const url = server.url.replace('127.0.0.1', host)
  expect(await client.send(post(url))).toEqual({
    kind: 'failure',
    code: 'PENSTOCK_BLOCKED',
    reason: 'URL is blocked: Requests to loopback addresses are not allowed',
  })
  expect(server.requests).toEqual([])
  allowsLocal = true
  expect(await client.send(post(url))).toMatchObject({ kind: 'reply', status: 200 })
})

describe('connections that are kept', () => {
  const blocked = {
    kind: 'failure',
    code: 'PENSTOCK_BLOCKED',
    reason: 'URL is blocked: Requests to loopback addresses are not allowed',
  }
  async function withPolicy(script: readonly ScriptedReply[]) {
    const { server } = await setUp(script)
    const policy = { allowsLocal: true, deniesOthers: false, allowed: new AllowedHosts([]) }
    const client = new HttpClient({ ...defaultHttpClientLimits, connections: 1 }, () => policy)
    cleanups.push(() => client.close())
    return { server, client, policy, request: post(server.url.replace('127.0.0.1', 'localhost')) }
  }

  test('one is not used again once the policy forbids its address', async () => {
    const { server, client, policy, request } = await withPolicy([ok, ok])
    expect(await client.send(request)).toMatchObject({ kind: 'reply', status: 200 })
    policy.allowsLocal = false
    expect(await client.send(request)).toEqual(blocked)
    expect(server.requests).toHaveLength(1)
    policy.allowsLocal = true
    expect(await client.send(request)).toMatchObject({ kind: 'reply', status: 200 })
  })

  test('a request that waits for one is judged when its turn comes', async () => {
    const gate = new Gate()
    const { server, client, policy, request } = await withPolicy([{ ...ok, after: gate.opened }, ok])
    const sending = [client.send(request), client.send(request)]
    await server.received(1)
    policy.allowsLocal = false
    gate.open()
    expect(await sending[1]).toEqual(blocked)
    expect(server.requests).toHaveLength(1)
  })

  test('one to an allowed host is used again', async () => {
    const { server, client, policy, request } = await withPolicy([ok, ok])
    policy.allowsLocal = false
    policy.allowed = new AllowedHosts(['localhost'])
    expect(await client.send(request)).toMatchObject({ kind: 'reply', status: 200 })
    expect(await client.send(request)).toMatchObject({ kind: 'reply', status: 200 })
    expect(server.requests).toHaveLength(2)
  })
})
