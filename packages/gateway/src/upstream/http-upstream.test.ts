import { once } from 'node:events'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { PassThrough, Readable } from 'node:stream'
import { encodeRpcStatus } from '@penstock/otlp'
import { silentLog, systemClock } from '@penstock/runtime'
import { Gate, ManualClock, refusedUrl, type ScriptedReply, ScriptedServer } from '@penstock/testkit'
import { afterEach, describe, expect, test } from 'vitest'
import { meteredUpstream } from '../metrics/metered-upstream.ts'
import { MetricRegistry } from '../metrics/registry.ts'
import { type HttpUpstreamOptions, openHttpUpstream } from './http-upstream.ts'
import type { UpstreamAlarm, UpstreamRequest } from './upstream.ts'

const cleanups: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

async function playing(script: readonly ScriptedReply[]): Promise<ScriptedServer> {
  const server = await ScriptedServer.start(script)
  cleanups.push(() => server.close())
  return server
}

async function upstreamAt(url: string, changes: Partial<HttpUpstreamOptions> = {}) {
  const alarms: UpstreamAlarm[] = []
  const metrics = new MetricRegistry()
  const plain = await openHttpUpstream({
    config: { url },
    passCredentialThrough: false,
    clock: systemClock,
    random: () => 0.5,
    onAlarm: (alarm) => alarms.push(alarm),
    ...changes,
  })
  const upstream = meteredUpstream(plain, metrics, () => performance.now(), silentLog)
  cleanups.push(() => upstream.close())
  const failures = () =>
    metrics
      .report()
      .cells.filter(({ name }) => name === 'otelcol_exporter_send_failed_requests')
      .map(({ labels, value }) => [labels.error_type, value])
  return { upstream, alarms, metrics, failures }
}

async function setUp(script: readonly ScriptedReply[], changes: Partial<HttpUpstreamOptions> = {}) {
  const server = await playing(script)
  return { server, ...(await upstreamAt(server.url, changes)) }
}

async function listening(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  cleanups.push(async () => server.close())
  return (server.address() as AddressInfo).port
}

const bytes = Uint8Array.of(0x0a, 0x02, 0x12, 0x00)

function request(changes: Partial<UpstreamRequest> = {}): UpstreamRequest {
  return {
    signal: 'traces',
    encoding: 'protobuf',
    contentEncoding: '',
    headers: ['user-agent', 'sdk/1', 'x-tenant', 'a'],
    body: bytes,
    contentLength: bytes.length,
    deadlineMs: systemClock.nowMs() + 20_000,
    ...changes,
  }
}

const ok: ScriptedReply = { play: 'reply', status: 200 }
const refused = (fields: object) => ({ kind: 'refused', ...fields })

describe('what upstream sees', () => {
  test('path, media type, length and the headers given, without those of the connection', async () => {
    const { server, upstream } = await setUp([ok, ok])
    await upstream.send(
      request({
        contentEncoding: 'gzip',
        headers: ['user-agent', 'sdk/1', 'x-a', '1', 'x-a', '2', 'accept-encoding', 'gzip', 'host', 'elsewhere'],
        body: Buffer.from('1f8b0800000000000003030000000000000000000000'.slice(0, 40), 'hex'),
      }),
    )
    expect(server.requests[0]).toMatchObject({ method: 'POST', path: '/v1/traces', wireBytes: 20 })
    const { headers } = server.requests[0]!
    expect(headers).toEqual({
      host: new URL(server.url).host,
      connection: 'keep-alive',
      'content-type': 'application/x-protobuf',
      'content-encoding': 'gzip',
      'content-length': '20',
      'user-agent': 'sdk/1',
      'x-a': '1, 2',
    })
  })

  test.each([
    ['logs', '/prefix/v1/logs'],
    ['profiles', '/prefix/v1development/profiles'],
  ] as const)('%s go below the prefix of the URL', async (signal, path) => {
    const server = await playing([ok])
    const { upstream } = await upstreamAt(`${server.url}/prefix/`)
    await upstream.send(request({ signal, encoding: 'json', body: Buffer.from('{}') }))
    expect(server.requests[0]).toMatchObject({ path, headers: { 'content-type': 'application/json' } })
    expect(upstream.name).toBe(`${server.url}/prefix`)
  })

  test('X-9: our credential, never the one of the client', async () => {
    const server = await playing([ok])
    const { upstream } = await upstreamAt(server.url, { config: { url: server.url, credential: { header: 'ours' } } })
    await upstream.send(request({ headers: ['authorization', 'Bearer theirs'] }))
    expect(server.requests[0]?.headers.authorization).toBe('Bearer ours')
  })

  test('X-9: the credential of the client where it is to be passed through', async () => {
    const { server, upstream } = await setUp([ok], { passCredentialThrough: true })
    await upstream.send(request({ headers: ['authorization', 'Bearer theirs'] }))
    expect(server.requests[0]?.headers.authorization).toBe('Bearer theirs')
  })

  test('X-7: connections are kept and bounded', async () => {
    const gate = new Gate()
    const { server, upstream } = await setUp(Array(6).fill({ ...ok, after: gate.opened }), {
      limits: { connections: 2 },
    })
    const sending = Array.from({ length: 6 }, () => upstream.send(request()))
    await server.received(2)
    gate.open()
    await Promise.all(sending)
    expect(server.requests.length).toBe(6)
  })

  test('beyond the bound of waiting requests: overload, retryable', async () => {
    const { server, upstream, failures } = await setUp([{ play: 'silence' }], { limits: { underWay: 1 } })
    let abort = () => {}
    const first = upstream.send(request({ onAbortable: (given) => (abort = given) }))
    await server.received(1)
    expect(await upstream.send(request())).toEqual(
      refused({
        cause: 'throttled',
        httpStatus: 503,
        grpcCode: 14,
        message: 'too many requests wait for the upstream',
        retryAfter: 3,
        status: undefined,
      }),
    )
    expect(failures()).toEqual([['throttled', 1]])
    abort()
    await first
  })
})

describe('acceptance', () => {
  test.each([
    ['no body', {}],
    ['protobuf 0A 00', { headers: { 'content-type': 'application/x-protobuf' }, body: Uint8Array.of(0x0a, 0) }],
    ['{}', { headers: { 'content-type': 'application/json' }, body: '{}' }],
    ['an empty partial success', { headers: { 'content-type': 'application/json' }, body: '{"partialSuccess":{}}' }],
    ['some text', { headers: { 'content-type': 'text/plain' }, body: 'thank you very much' }],
    ['202', { status: 202 }],
    ['204', { status: 204 }],
  ])('P-6: %s is all of it', async (_, reply) => {
    const { upstream, metrics } = await setUp([{ ...ok, ...reply }])
    expect(await upstream.send(request())).toEqual({ kind: 'accepted', partialSuccess: undefined, body: undefined })
    expect(metrics.report().cells).toContainEqual({
      name: 'otelcol_exporter_sent_requests',
      labels: { upstream: upstream.name },
      value: 1,
    })
  })

  test('a partial success, in the bytes of upstream', async () => {
    const body = Uint8Array.of(0x0a, 0x06, 0x08, 0x02, 0x12, 0x02, 0x6e, 0x6f)
    const { upstream } = await setUp([{ ...ok, headers: { 'content-type': 'application/x-protobuf' }, body }])
    expect(await upstream.send(request())).toEqual({
      kind: 'accepted',
      partialSuccess: { rejected: 2n, message: 'no' },
      body: { encoding: 'protobuf', bytes: Buffer.from(body) },
    })
  })

  test('P-15: an endless reply is cut off; what its status says stands', async () => {
    const { server, upstream } = await setUp([
      { play: 'flood', status: 200 },
      { play: 'flood', status: 429 },
      { play: 'flood', status: 400 },
    ])
    expect(await upstream.send(request())).toEqual({ kind: 'accepted', partialSuccess: undefined, body: undefined })
    await server.requests[0]?.over
    expect(await upstream.send(request())).toMatchObject({ cause: 'throttled', httpStatus: 429, retryAfter: 3 })
    expect(await upstream.send(request())).toMatchObject({ cause: 'rejected', httpStatus: 500, grpcCode: 13 })
  })
})

describe('refusals', () => {
  test('a Status is passed on in its own bytes', async () => {
    const body = encodeRpcStatus({ code: 3, message: 'span without an id', retryDelayMs: undefined }, 'protobuf')
    const headers = { 'content-type': 'application/x-protobuf' }
    const { upstream, failures } = await setUp([{ play: 'reply', status: 400, headers, body }])
    expect(await upstream.send(request())).toEqual(
      refused({
        cause: 'rejected',
        httpStatus: 400,
        grpcCode: 3,
        message: 'span without an id',
        retryAfter: undefined,
        status: { encoding: 'protobuf', bytes: Buffer.from(body) },
      }),
    )
    expect(failures()).toEqual([['rejected', 1]])
  })

  const html = { headers: { 'content-type': 'text/html' }, body: '<html>oops</html>' }
  test.each([
    [301, { cause: 'unknown', httpStatus: 502, grpcCode: 14 }],
    [307, { cause: 'unknown', httpStatus: 502, grpcCode: 14 }],
    [400, { cause: 'rejected', httpStatus: 400, grpcCode: 3 }],
    [408, { cause: 'throttled', httpStatus: 503, grpcCode: 14, retryAfter: 3 }],
    [413, { cause: 'too_large', httpStatus: 413, grpcCode: 8 }],
    [429, { cause: 'throttled', httpStatus: 429, grpcCode: 14, retryAfter: 3 }],
    [500, { cause: 'rejected', httpStatus: 500, grpcCode: 2 }],
    [501, { cause: 'rejected', httpStatus: 501, grpcCode: 2 }],
    [502, { cause: 'unknown', httpStatus: 502, grpcCode: 14 }],
    [503, { cause: 'throttled', httpStatus: 503, grpcCode: 14, retryAfter: 3 }],
    [504, { cause: 'unknown', httpStatus: 504, grpcCode: 4 }],
    [520, { cause: 'throttled', httpStatus: 503, grpcCode: 14, retryAfter: 3 }],
    [599, { cause: 'throttled', httpStatus: 503, grpcCode: 14, retryAfter: 3 }],
  ])('P-14: an error page with %i becomes a Status of ours that names the code', async (status, expected) => {
    const { upstream, alarms } = await setUp([{ play: 'reply', status, ...html }])
    const message = `the upstream answered HTTP ${status}`
    expect(await upstream.send(request())).toEqual(
      refused({ retryAfter: undefined, ...expected, message, status: undefined }),
    )
    expect(alarms).toEqual([])
  })

  test.each([401, 403])('%i for our own credential: retryable, and an alarm', async (status) => {
    const { upstream, alarms } = await setUp([{ play: 'reply', status }])
    expect(await upstream.send(request())).toEqual(
      refused({
        cause: 'credential',
        httpStatus: 503,
        grpcCode: 14,
        message: 'the upstream does not accept the gateway itself',
        retryAfter: 3,
        status: undefined,
      }),
    )
    expect(alarms).toEqual([{ kind: 'credential', upstream: upstream.name, detail: `HTTP ${status}` }])
  })

  test('401 for a credential passed through is the answer of its owner', async () => {
    const { upstream, alarms } = await setUp([{ play: 'reply', status: 401 }], { passCredentialThrough: true })
    expect(await upstream.send(request())).toMatchObject({ cause: 'credential', httpStatus: 401, grpcCode: 16 })
    expect(alarms).toEqual([])
  })

  test.each([404, 405])('%i on a path of ours is our mistake: retryable, and an alarm', async (status) => {
    const { upstream, alarms } = await setUp([{ play: 'reply', status }])
    expect(await upstream.send(request())).toMatchObject({ httpStatus: 503, grpcCode: 14, retryAfter: 3 })
    expect(alarms).toEqual([{ kind: 'misplaced', upstream: upstream.name, detail: `HTTP ${status} for traces` }])
  })

  const nextYear = 'Fri, 01 Jan 2100 00:00:00 GMT'
  test.each([
    [429, '7', 7],
    [503, '120', 120],
    [503, nextYear, nextYear],
    [503, '0', 1],
    [429, 'soon', 3],
    [429, 'Thu, 01 Jan 1970 00:00:00 GMT', 3],
  ])('P-13: %i with Retry-After %s', async (status, value, retryAfter) => {
    const { upstream } = await setUp([{ play: 'reply', status, headers: { 'retry-after': value } }])
    expect(await upstream.send(request())).toMatchObject({ cause: 'throttled', httpStatus: status, retryAfter })
  })

  test('P-13: the wait of a RetryInfo counts where there is no header', async () => {
    const body = encodeRpcStatus({ code: 14, message: 'busy', retryDelayMs: 4_200 }, 'json')
    const headers = { 'content-type': 'application/json; charset=utf-8' }
    const { upstream } = await setUp([{ play: 'reply', status: 503, headers, body }])
    expect(await upstream.send(request())).toMatchObject({
      message: 'busy',
      retryAfter: 5,
      status: { encoding: 'json' },
    })
  })
})

describe('the network', () => {
  const unreachable = refused({
    cause: 'unreachable',
    httpStatus: 503,
    grpcCode: 14,
    message: 'the upstream cannot be reached',
    retryAfter: 3,
    status: undefined,
  })
  const broke = refused({
    cause: 'unknown',
    httpStatus: 502,
    grpcCode: 14,
    message: 'the connection to the upstream broke',
    retryAfter: undefined,
    status: undefined,
  })

  test('nobody listens: nothing was sent', async () => {
    const { upstream, failures } = await upstreamAt(await refusedUrl())
    expect(await upstream.send(request())).toEqual(unreachable)
    expect(failures()).toEqual([['unreachable', 1]])
  })

  test('a name that does not exist', async () => {
    const { upstream } = await upstreamAt('http://collector.invalid:4318')
    expect(await upstream.send(request())).toEqual(unreachable)
  })

  test('https towards a port that speaks plain http: nothing was sent', async () => {
    const server = await playing([])
    const { upstream } = await upstreamAt(server.url.replace('http:', 'https:'))
    expect(await upstream.send(request())).toEqual(unreachable)
    expect(server.requests).toEqual([])
  })

  test.each([
    ['before the head', { play: 'reset' }],
    ['after the head of an acceptance', { play: 'reset', status: 200 }],
    ['within the body of an acceptance', { play: 'reset', status: 200, body: 'some' }],
    ['instead of HTTP', { play: 'raw', bytes: 'SSH-2.0-OpenSSH_9.6\r\n' }],
  ] as const)('a reset %s: unknown, and not sent again', async (_, reply) => {
    const { server, upstream, failures } = await setUp([reply])
    expect(await upstream.send(request())).toEqual(broke)
    expect(server.requests.length).toBe(1)
    expect(failures()).toEqual([['unknown', 1]])
  })

  test('a reset within the body of a refusal: the status counts', async () => {
    const { upstream } = await setUp([{ play: 'reset', status: 400, body: 'some' }])
    expect(await upstream.send(request())).toMatchObject({ cause: 'rejected', httpStatus: 400, status: undefined })
  })

  test.each([
    ['no head', { play: 'silence' }],
    ['a head without its body', { play: 'stall', status: 200, body: 'some' }],
  ] as const)('X-6: %s within the deadline: 504, and upstream sees us go', async (_, reply) => {
    const { server, upstream, failures } = await setUp([reply])
    expect(await upstream.send(request({ deadlineMs: systemClock.nowMs() + 50 }))).toEqual(
      refused({
        cause: 'unknown',
        httpStatus: 504,
        grpcCode: 4,
        message: 'the upstream did not answer in time',
        retryAfter: undefined,
        status: undefined,
      }),
    )
    await server.requests[0]?.over
    expect(failures()).toEqual([['unknown', 1]])
  })

  test('X-6: the deadline covers waiting for a connection; then nothing was sent', async () => {
    const { server, upstream } = await setUp([{ play: 'silence' }], { limits: { connections: 1 } })
    let abort = () => {}
    const first = upstream.send(request({ onAbortable: (given) => (abort = given) }))
    await server.received(1)
    expect(await upstream.send(request({ deadlineMs: systemClock.nowMs() + 50 }))).toMatchObject({
      cause: 'unreachable',
      httpStatus: 504,
    })
    abort()
    await first
    expect(server.requests.length).toBe(1)
  })

  test('X-5: given up, upstream is cut off at once, and it is no failure of upstream', async () => {
    const { server, upstream, failures, metrics } = await setUp([{ play: 'silence' }])
    let abort = () => {}
    const sending = upstream.send(request({ onAbortable: (given) => (abort = given) }))
    await server.received(1)
    abort()
    await sending
    await server.requests[0]?.over
    expect(failures()).toEqual([])
    expect(metrics.report().cells).toContainEqual({
      name: 'otelcol_exporter_in_flight_requests',
      labels: { upstream: upstream.name },
      value: 0,
    })
  })
})

describe('several addresses behind one name', () => {
  const nowhere = '127.0.0.2'

  async function named(server: ScriptedServer, addresses: string[][], clock = new ManualClock()) {
    const url = server.url.replace('127.0.0.1', 'collector.test')
    const asked: string[] = []
    const set = await upstreamAt(url, {
      clock,
      resolve: async (host) => {
        asked.push(host)
        return addresses[Math.min(asked.length, addresses.length) - 1]!
      },
    })
    const send = (changes: Partial<UpstreamRequest> = {}) =>
      set.upstream.send(request({ deadlineMs: clock.nowMs() + 20_000, ...changes }))
    return { ...set, asked, clock, send }
  }

  test('X-4: a body that could not be sent goes to another address, once', async () => {
    const server = await playing(Array(8).fill(ok))
    const { send, failures } = await named(server, [[nowhere, '127.0.0.1']])
    for (let index = 0; index < 8; index += 1) expect(await send()).toMatchObject({ kind: 'accepted' })
    expect(server.requests.length).toBe(8)
    expect(server.requests[0]?.headers.host).toBe(`collector.test:${new URL(server.url).port}`)
    expect(failures()).toEqual([])
  })

  test('X-4: more than 1 MiB is not kept for a second attempt', async () => {
    const server = await playing([ok])
    const { send } = await named(server, [[nowhere]])
    expect(await send({ body: Buffer.alloc(1024 * 1024 + 1) })).toMatchObject({ cause: 'unreachable' })
    expect(server.requests).toEqual([])
  })

  test('X-7: after three failures an address is left alone for 10 s', async () => {
    const server = await playing(Array(40).fill(ok))
    const big = { body: Buffer.alloc(1024 * 1024 + 1) }
    const { send, clock } = await named(server, [[nowhere, '127.0.0.1']])
    const outcomes = async (count: number) => {
      const kinds: string[] = []
      for (let index = 0; index < count; index += 1) kinds.push((await send(big)).kind)
      return kinds.filter((kind) => kind === 'refused').length
    }
    expect(await outcomes(12)).toBe(3)
    expect(await outcomes(4)).toBe(0)
    await clock.advance(10_000)
    expect(await outcomes(2)).toBe(1)
  })

  test('X-7: names are asked for again after 30 s, and new addresses used', async () => {
    const server = await playing(Array(8).fill(ok))
    const { send, clock, asked } = await named(server, [[nowhere], ['127.0.0.1']])
    expect(await send()).toMatchObject({ cause: 'unreachable' })
    await clock.advance(29_999)
    await send()
    expect(asked).toEqual(['collector.test'])
    await clock.advance(1)
    await send()
    expect(asked).toEqual(['collector.test', 'collector.test'])
    expect(await send()).toMatchObject({ kind: 'accepted' })
  })
})

describe('streams', () => {
  test('X-1: bytes go as they come, with the length when it is known', async () => {
    const { server, upstream } = await setUp([ok, ok])
    await upstream.send(request({ body: Readable.from([Buffer.from('one '), Buffer.from('two')]), contentLength: 7 }))
    await upstream.send(request({ body: Readable.from([Buffer.from('three')]), contentLength: undefined }))
    expect(server.requests.map(({ body, headers }) => [`${body}`, headers['content-length']])).toEqual([
      ['one two', '7'],
      ['three', undefined],
    ])
  })

  test('X-1: an upstream that stops reading stops the client', async () => {
    const port = await listening(createServer((socket) => socket.pause().on('error', () => {})))
    const { upstream } = await upstreamAt(`http://127.0.0.1:${port}`)
    let pulled = 0
    const body = new Readable({
      highWaterMark: 64 * 1024,
      read() {
        pulled += 1
        this.push(Buffer.alloc(64 * 1024))
      },
    })
    let abort = () => {}
    const sending = upstream.send(request({ body, contentLength: undefined, onAbortable: (given) => (abort = given) }))
    await once(body, 'pause')
    const before = pulled
    await new Promise((resolve) => setImmediate(resolve))
    expect(pulled - before).toBeLessThan(1_000)
    expect(body.isPaused()).toBe(true)
    abort()
    await sending
  })

  test('P-8: a body that fails on its way is never completed', async () => {
    const gate = new Gate()
    let received = ''
    const port = await listening(
      createServer((socket) => {
        socket.on('data', (part) => (received += part)).on('error', () => {})
        socket.on('close', () => gate.open())
      }),
    )
    const { upstream, failures } = await upstreamAt(`http://127.0.0.1:${port}`)
    const body = new PassThrough()
    body.write('half of it')
    const sending = upstream.send(request({ body, contentLength: undefined }))
    await once(body, 'resume')
    body.destroy(new Error('too large'))
    await sending
    await gate.opened
    expect(received).not.toContain('\r\n0\r\n')
    expect(failures()).toEqual([])
  })

  test('a stream that is not needed any more is destroyed', async () => {
    const { upstream } = await upstreamAt(await refusedUrl())
    const body = new PassThrough()
    expect(await upstream.send(request({ body, contentLength: undefined }))).toMatchObject({ cause: 'unreachable' })
    expect(body.destroyed).toBe(true)
  })

  test('X-4: a stream nobody has read from may be sent to another address', async () => {
    const server = await playing([ok, ok])
    const url = server.url.replace('127.0.0.1', 'collector.test')
    const { upstream } = await upstreamAt(url, { resolve: async () => ['127.0.0.2', '127.0.0.1'] })
    for (const text of ['first', 'second']) {
      const body = Readable.from([Buffer.from(text)])
      expect(await upstream.send(request({ body, contentLength: undefined }))).toMatchObject({ kind: 'accepted' })
    }
    expect(server.requests.map(({ body }) => `${body}`)).toEqual(['first', 'second'])
  })
})
