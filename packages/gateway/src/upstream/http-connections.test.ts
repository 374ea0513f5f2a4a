import { once } from 'node:events'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { PassThrough, Readable } from 'node:stream'
import { systemClock } from '@penstock/runtime'
import { Gate, ManualClock, refusedUrl, type ScriptedServer } from '@penstock/testkit'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { UpstreamRequest } from '../contract/upstream.ts'
import { ok, playing, refused, request, setUp, upstreamAt } from './http-upstream.harness.ts'

describe('network failures', () => {
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

  test('closed port: unreachable', async () => {
    const { upstream, failures } = await upstreamAt(await refusedUrl())
    expect(await upstream.send(request())).toEqual(unreachable)
    expect(failures()).toEqual([['unreachable', 1]])
  })

  test('unknown host name: unreachable', async () => {
    const { upstream } = await upstreamAt('http://collector.invalid:4318')
    expect(await upstream.send(request())).toEqual(unreachable)
  })

  test('https to a port that speaks plain http: unreachable', async () => {
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
  ] as const)('reset %s: unknown outcome, and not sent again', async (_, reply) => {
    const { server, upstream, failures } = await setUp([reply])
    expect(await upstream.send(request())).toEqual(broke)
    expect(server.requests.length).toBe(1)
    expect(failures()).toEqual([['unknown', 1]])
  })

  test('reset within the body of a refusal: uses the status', async () => {
    const { upstream } = await setUp([{ play: 'reset', status: 400, body: 'some' }])
    expect(await upstream.send(request())).toMatchObject({ cause: 'rejected', httpStatus: 400, status: undefined })
  })

  test.each([
    ['no head', { play: 'silence' }],
    ['a head without its body', { play: 'stall', status: 200, body: 'some' }],
  ] as const)('X-6: %s within the deadline: answers 504 and closes the connection', async (_, reply) => {
    const { server, upstream, failures } = await setUp([reply])
    expect(await upstream.send(request({ deadlineMs: systemClock.monotonicMs() + 50 }))).toEqual(
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

  test('X-6: the deadline includes the wait for a connection', async () => {
    const { server, upstream } = await setUp([{ play: 'silence' }], { limits: { connections: 1 } })
    let abort = () => {}
    const first = upstream.send(request({ onAbortable: (abortRequest) => (abort = abortRequest) }))
    await server.received(1)
    expect(await upstream.send(request({ deadlineMs: systemClock.monotonicMs() + 50 }))).toMatchObject({
      cause: 'unreachable',
      httpStatus: 504,
    })
    abort()
    await first
    expect(server.requests.length).toBe(1)
  })

  test('X-5: an aborted request closes its connection and is not counted as a failure', async () => {
    const { server, upstream, failures, metrics } = await setUp([{ play: 'silence' }])
    let abort = () => {}
    const sending = upstream.send(request({ onAbortable: (abortRequest) => (abort = abortRequest) }))
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
      set.upstream.send(request({ deadlineMs: clock.monotonicMs() + 20_000, ...changes }))
    return { ...set, asked, clock, send }
  }

  test('X-4: sends a body once more, to another address, if it could not be sent', async () => {
    const server = await playing(Array(8).fill(ok))
    const { send, failures } = await named(server, [[nowhere, '127.0.0.1']])
    for (let index = 0; index < 8; index += 1) expect(await send()).toMatchObject({ kind: 'accepted' })
    expect(server.requests.length).toBe(8)
    expect(server.requests[0]?.headers.host).toBe(`collector.test:${new URL(server.url).port}`)
    expect(failures()).toEqual([])
  })

  test('X-4: makes no second attempt with more than 1 MiB', async () => {
    const server = await playing([ok])
    const { send } = await named(server, [[nowhere]])
    expect(await send({ body: Buffer.alloc(1024 * 1024 + 1) })).toMatchObject({ cause: 'unreachable' })
    expect(server.requests).toEqual([])
  })

  test('X-7: avoids an address for 10 s after three failures', async () => {
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

  test('X-7: resolves the name again after 30 s, and uses new addresses', async () => {
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

async function listening(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return (server.address() as AddressInfo).port
}

describe('streams', () => {
  test('X-1: forwards bytes as they arrive, with the length if it is known', async () => {
    const { server, upstream } = await setUp([ok, ok])
    await upstream.send(request({ body: Readable.from([Buffer.from('one '), Buffer.from('two')]), contentLength: 7 }))
    await upstream.send(request({ body: Readable.from([Buffer.from('three')]), contentLength: undefined }))
    expect(server.requests.map(({ body, headers }) => [`${body}`, headers['content-length']])).toEqual([
      ['one two', '7'],
      ['three', undefined],
    ])
  })

  test('X-1: stops reading the body while upstream does not read', async () => {
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
    const sending = upstream.send(
      request({ body, contentLength: undefined, onAbortable: (abortRequest) => (abort = abortRequest) }),
    )
    await once(body, 'pause')
    const before = pulled
    await new Promise((resolve) => setImmediate(resolve))
    expect(pulled - before).toBeLessThan(1_000)
    expect(body.isPaused()).toBe(true)
    abort()
    await sending
  })

  test('P-8: never completes a body that fails', async () => {
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

  test('destroys a stream that is no longer needed', async () => {
    const { upstream } = await upstreamAt(await refusedUrl())
    const body = new PassThrough()
    expect(await upstream.send(request({ body, contentLength: undefined }))).toMatchObject({ cause: 'unreachable' })
    expect(body.destroyed).toBe(true)
  })

  test('X-4: sends a stream to another address if nothing has been read from it', async () => {
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
