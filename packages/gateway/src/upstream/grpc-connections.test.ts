import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { PassThrough } from 'node:stream'
import { Gate, ManualClock } from '@penstock/testkit'
import { describe, expect, onTestFinished, test } from 'vitest'
import { clientGone } from '../contract/gateway-answers.ts'
import { GrpcScript, ok } from './grpc-script.harness.ts'
import { requestOf, script, upstreamOf } from './grpc-upstream.harness.ts'

describe('X-6, X-7: time and connections', () => {
  test('answers unreachable if the port is closed', async () => {
    const server = await GrpcScript.start(ok)
    const { url } = server
    await server.close()
    expect(await upstreamOf(url).send(requestOf())).toMatchObject({
      cause: 'unreachable',
      httpStatus: 503,
      grpcCode: 14,
      message: 'upstream cannot be reached (ECONNREFUSED)',
    })
  })

  async function mute(): Promise<{ url: URL; server: Server; close(): Promise<void> }> {
    const server = createServer((socket) => socket.on('error', () => {}).resume())
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const sockets = new Set<Socket>()
    server.on('connection', (socket) => sockets.add(socket))
    const close = () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        for (const socket of sockets) socket.destroy()
      })
    const started = { url: new URL(`grpc://127.0.0.1:${(server.address() as AddressInfo).port}`), server, close }
    onTestFinished(close)
    return started
  }

  /** A proxy to a port that can silently stop forwarding, without closing either connection. */
  async function pathTo(target: URL): Promise<{ url: URL; cut(): void }> {
    const sockets: Socket[] = []
    const server = createServer((near) => {
      const far = connect(Number(target.port), '127.0.0.1')
      sockets.push(near, far)
      for (const socket of [near, far]) socket.on('error', () => {})
      near.pipe(far).pipe(near)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const close = () => {
      for (const socket of sockets) socket.destroy()
      server.close()
    }
    onTestFinished(close)
    const cut = () => {
      for (const socket of sockets) socket.unpipe()
    }
    return { url: new URL(`grpc://127.0.0.1:${(server.address() as AddressInfo).port}`), cut }
  }

  test('gives up after 2 s, twice, if the peer does not speak HTTP/2', async () => {
    const { url } = await mute()
    const clock = new ManualClock(Date.now())
    const answer = upstreamOf(url, {}, clock).send(requestOf())
    for (const _ of [1, 2]) {
      await clock.untilSleeping()
      expect(clock.wakeTimesMs[0]! - clock.nowMs()).toBe(2_000)
      await clock.advance(2_000)
    }
    expect(await answer).toMatchObject({ cause: 'unreachable', message: 'upstream cannot be reached (ETIMEDOUT)' })
  })

  test('cancels the stream at the deadline, with an unknown outcome', async () => {
    const clock = new ManualClock(1_000_000)
    const server = await script(() => {})
    const upstream = upstreamOf(server.url, {}, clock)
    const answer = upstream.send(requestOf({ deadlineMs: clock.monotonicMs() + 3_000 }))
    await server.until(() => server.requests.length === 1)
    expect(server.requests[0]!.headers['grpc-timeout']).toBe('3000m')
    const reset = new Promise<void>((resolve) => server.requests[0]!.stream.once('close', () => resolve()))
    await clock.advance(3_000)
    expect(await answer).toMatchObject({ cause: 'unknown', httpStatus: 504, grpcCode: 4 })
    await reset
    expect(server.requests[0]!.stream.rstCode).toBe(8)
  })

  test('X-5: cancels the stream when the client has gone', async () => {
    const server = await script(() => {})
    let abort = () => {}
    const answer = upstreamOf(server.url).send(
      requestOf({
        onAbortable: (abortRequest) => {
          abort = abortRequest
        },
      }),
    )
    await server.until(() => server.requests.length === 1)
    const reset = new Promise<void>((resolve) => server.requests[0]!.stream.once('close', () => resolve()))
    abort()
    await reset
    expect(server.requests[0]!.stream.rstCode).toBe(8)
    expect(await answer).toBe(clientGone)
  })

  test.each(['fails', 'is too long', 'ends too early'])(
    'P-8: upstream never sees a streamed body that %s as complete',
    async (how) => {
      const server = await script(ok)
      const source = new PassThrough()
      const answer = upstreamOf(server.url).send(requestOf({ body: source, contentLength: 20 }))
      source.write(Buffer.alloc(10))
      await server.until(() => server.begun.length === 1)
      const reset = new Promise<void>((resolve) => server.begun[0]!.once('close', () => resolve()))
      if (how === 'fails') source.destroy(new Error('the client has gone'))
      else source.end(Buffer.alloc(how === 'is too long' ? 11 : 9))
      expect(await answer).toBe(clientGone)
      await reset
      expect(server.requests).toHaveLength(0)
    },
  )

  test('sends many requests over few connections', async () => {
    const gate = new Gate()
    const server = await script((request) => void gate.opened.then(() => ok(request)))
    const upstream = upstreamOf(server.url, { session: { connections: 2 } })
    const answers = Array.from({ length: 300 }, () => upstream.send(requestOf()))
    await server.until(() => server.requests.length === 300)
    expect(server.sessions.length).toBeLessThanOrEqual(2)
    gate.open()
    expect(new Set((await Promise.all(answers)).map(({ kind }) => kind))).toEqual(new Set(['accepted']))
  })

  test('closes an idle connection after 30 s', async () => {
    const clock = new ManualClock(Date.now())
    const server = await script(ok)
    const upstream = upstreamOf(server.url, {}, clock)
    const send = () => upstream.send(requestOf({ deadlineMs: clock.monotonicMs() + 10_000 }))
    await send()
    const closed = new Promise<void>((resolve) => server.sessions[0]!.once('close', () => resolve()))
    await clock.advance(30_000)
    await closed
    await send()
    expect(server.sessions).toHaveLength(2)
  })

  test('closes a connection that has become silent', async () => {
    const clock = new ManualClock(Date.now())
    const server = await script(() => {})
    const path = await pathTo(server.url)
    const upstream = upstreamOf(path.url, {}, clock)
    const answer = upstream.send(requestOf({ deadlineMs: clock.monotonicMs() + 60_000 }))
    await server.until(() => server.requests.length === 1)
    path.cut()
    await clock.advance(10_000)
    await clock.advance(5_000)
    expect(await answer).toMatchObject({ cause: 'unknown', httpStatus: 502 })
  })

  test('uses another address of the name if one is unreachable', async () => {
    const server = await script(ok)
    const url = new URL(server.url)
    url.hostname = 'upstream.test'
    const asked: string[] = []
    const resolve = (host: string) => {
      asked.push(host)
      return Promise.resolve(['127.0.0.2', '127.0.0.1'])
    }
    const upstream = upstreamOf(url, { resolve })
    expect(await upstream.send(requestOf())).toMatchObject({ kind: 'accepted' })
    expect(asked).toEqual(['upstream.test'])
    expect(server.requests[0]!.headers[':authority']).toBe(url.host)
  })

  test('close waits for requests in flight', async () => {
    const gate = new Gate()
    const server = await script((request) => void gate.opened.then(() => ok(request)))
    const upstream = upstreamOf(server.url)
    const answer = upstream.send(requestOf())
    await server.until(() => server.requests.length === 1)
    const closed = upstream.close()
    gate.open()
    expect(await answer).toMatchObject({ kind: 'accepted' })
    await closed
  })
})
