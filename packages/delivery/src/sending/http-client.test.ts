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

test('sends a request and returns a reply unchanged', async () => {
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

test('sends GET without a body', async () => {
  const { server, client } = await setUp([ok])
  await client.send(post(server.url, { method: 'GET', body: new Uint8Array() }))
  expect(server.requests[0]).toMatchObject({ method: 'GET', wireBytes: 0 })
  expect(server.requests[0]?.headers).not.toHaveProperty('content-length')
  expect(server.requests[0]?.headers).not.toHaveProperty('transfer-encoding')
})

test('keeps connections, and opens no more than allowed', async () => {
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

test('returns a redirect as a reply without following it', async () => {
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

test('reports a refused connection', async () => {
  const { client } = await setUp([])
  expect(await client.send(post(await refusedUrl()))).toEqual({
    kind: 'failure',
    code: 'ECONNREFUSED',
    reason: 'connection refused (ECONNREFUSED)',
  })
})

test('reports an unknown host name', async () => {
  const { client } = await setUp([])
  const result = await client.send(post('http://collector.invalid/'))
  expect(result).toMatchObject({ kind: 'failure', reason: expect.stringMatching(/^host name not found/) })
})

test('reports a reset before the status line', async () => {
  const { server, client } = await setUp([{ play: 'reset' }])
  const result = await client.send(post(server.url))
  expect(result).toMatchObject({
    kind: 'failure',
    reason: expect.stringMatching(/^connection closed before an answer/),
  })
})

test.each([undefined, 'the beginning'])('returns the status after a reset behind the head and %j', async (body) => {
  const { server, client } = await setUp([{ play: 'reset', status: 400, ...(body && { body }) }])
  const result = await client.send(post(server.url))
  expect(result).toMatchObject({ kind: 'reply', status: 400, truncated: true })
})

test('ends a request without a reply at the deadline, and closes the connection', async () => {
  const { server, client } = await setUp([{ play: 'silence' }])
  expect(await client.send(post(server.url, { timeoutMs: 100 }))).toEqual({
    kind: 'failure',
    code: 'PENSTOCK_DEADLINE',
    reason: 'no answer in time',
  })
  await server.requests[0]?.over
})

test('returns the status if the body does not arrive before the deadline', async () => {
  const { server, client } = await setUp([{ play: 'stall', status: 200, body: 'some' }])
  const reply = await client.send(post(server.url, { timeoutMs: 100 }))
  expect(reply).toMatchObject({ kind: 'reply', status: 200, truncated: true })
  expect(reply.kind === 'reply' && text(reply.body)).toBe('some')
  await server.requests[0]?.over
})

test('reports a timeout of the headers', async () => {
  const { server, client } = await setUp([{ play: 'silence' }], { headersTimeoutMs: 100 })
  const result = await client.send(post(server.url))
  expect(result).toMatchObject({ kind: 'failure', code: 'UND_ERR_HEADERS_TIMEOUT' })
})

test('includes the wait for a free connection in the deadline', async () => {
  const { server, client } = await setUp([{ play: 'silence' }], { connections: 1 })
  const stop = new AbortController()
  const first = client.send(post(server.url), stop.signal)
  await server.received(1)
  expect(await client.send(post(server.url, { timeoutMs: 50 }))).toMatchObject({ code: 'PENSTOCK_DEADLINE' })
  stop.abort()
  expect(await first).toMatchObject({ code: 'PENSTOCK_ABORTED' })
  expect(server.requests.length).toBe(1)
})

test('ends a request on an abort, before or during it', async () => {
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

test('cuts an endless reply at the limit, and serves the next request', async () => {
  const { server, client } = await setUp([{ play: 'flood', status: 200 }, ok], { keptReplyBytes: 10_000 })
  const reply = await client.send(post(server.url))
  expect(reply).toMatchObject({ kind: 'reply', status: 200, truncated: true })
  expect(reply.kind === 'reply' && reply.body.length).toBe(10_000)
  await server.requests[0]?.over
  expect(await client.send(post(server.url))).toMatchObject({ status: 200, truncated: false })
})

test('returns a reply of exactly the limit in full', async () => {
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

test('returns the status of a reply with broken chunks', async () => {
  const bytes = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\nnonsense'
  const { server, client } = await setUp([{ play: 'raw', bytes }])
  expect(await client.send(post(server.url))).toMatchObject({ kind: 'reply', status: 200, truncated: true })
})

test('reports a TLS failure for https to a plain http port', async () => {
  const { server, client } = await setUp([])
  const result = await client.send(post(server.url.replace('http:', 'https:')))
  expect(result).toMatchObject({ kind: 'failure', reason: expect.stringMatching(/^TLS handshake failed/) })
  expect(server.requests).toEqual([])
})

test('throws an error of the caller, without the value', async () => {
  const { server, client } = await setUp([])
  const sending = client.send(post(server.url, { headers: { authorization: 'Bearer CANARY\n' } }))
  await expect(sending).rejects.toThrow(/^(?!.*CANARY)/)
})

test('close waits for requests in progress', async () => {
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
])('never connects to an address that the policy forbids: $name', async ({ host }) => {
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

describe('kept connections', () => {
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

  test('are not used again after the policy forbids their address', async () => {
    const { server, client, policy, request } = await withPolicy([ok, ok])
    expect(await client.send(request)).toMatchObject({ kind: 'reply', status: 200 })
    policy.allowsLocal = false
    expect(await client.send(request)).toEqual(blocked)
    expect(server.requests).toHaveLength(1)
    policy.allowsLocal = true
    expect(await client.send(request)).toMatchObject({ kind: 'reply', status: 200 })
  })

  test('a waiting request is checked again when it gets one', async () => {
    const gate = new Gate()
    const { server, client, policy, request } = await withPolicy([{ ...ok, after: gate.opened }, ok])
    const sending = [client.send(request), client.send(request)]
    await server.received(1)
    policy.allowsLocal = false
    gate.open()
    expect(await sending[1]).toEqual(blocked)
    expect(server.requests).toHaveLength(1)
  })

  test('are used again for an allowed host', async () => {
    const { server, client, policy, request } = await withPolicy([ok, ok])
    policy.allowsLocal = false
    policy.allowed = new AllowedHosts(['localhost'])
    expect(await client.send(request)).toMatchObject({ kind: 'reply', status: 200 })
    expect(await client.send(request)).toMatchObject({ kind: 'reply', status: 200 })
    expect(server.requests).toHaveLength(2)
  })
})
