import { once } from 'node:events'
import { Gate } from '@penstock/testkit'
import fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import { versionOf } from '../connections/listener-protocol.ts'
import { onBothPaths } from './both-paths.harness.ts'
import { accepted, front, head, open, post, RawClient, start, startFront } from './http-front.harness.ts'
import { connections, openHttp2, statusOver } from './listener.harness.ts'

describe('P-1: one port for both versions of HTTP', () => {
  test('detects the version by the first bytes in clear text', async () => {
    await start()
    const client = await open()
    expect(await client.send(post('abc')).reply()).toMatchObject({ status: 200 })
    expect(await statusOver(openHttp2())).toBe(200)
    expect([connections('http'), connections('grpc')]).toEqual([1, 1])
  })

  test('detects the version if single bytes arrive', async () => {
    await start()
    const client = await open()
    for (const byte of head({ 'content-length': '1' })) {
      await new Promise<void>((resolve) => client.socket.write(byte, () => resolve()))
    }
    expect(await client.send('x').reply()).toMatchObject({ status: 200 })
  })

  test('passes gRPC to its own front, by content type', async () => {
    const seen: unknown[] = []
    await start({
      grpc: {
        onHttp2(stream, { contentType, rawHeaders }) {
          seen.push(contentType, rawHeaders.includes(':path'))
          stream.respond(
            { ':status': 200, 'content-type': 'application/grpc', 'grpc-status': '16' },
            { endStream: true },
          )
        },
      },
    })
    const session = openHttp2()
    await statusOver(session, '', { 'content-type': 'application/grpc+proto' })
    expect(await statusOver(session)).toBe(200)
    expect(seen).toEqual(['application/grpc+proto', true])
  })

  test('detects at most one version for any beginning', () => {
    const preface = 'PRI * HTTP/2.0\r\n\r\n'
    expect(versionOf(Buffer.from(preface))).toBe(2)
    expect(versionOf(Buffer.from('PRIVATE / HTTP/1.1\r\n'))).toBe(1)
    fc.assert(
      fc.property(fc.nat(17), (length) => {
        expect(versionOf(Buffer.from(preface.slice(0, length)))).toBeUndefined()
        expect(versionOf(Buffer.from(`${preface.slice(0, length)}~`))).toBe(1)
      }),
    )
  })
})

onBothPaths(() => {
  describe('broken requests', () => {
    const good = 'host: a\r\nauthorization: Bearer good\r\ncontent-type: application/json\r\n'

    test.each([
      [
        'P-17: Transfer-Encoding and Content-Length',
        `${good}content-length: 3\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`,
      ],
      ['two Content-Lengths', `${good}content-length: 3\r\ncontent-length: 4\r\n\r\nabcd`],
      ['a Content-Length that is not a number', `${good}content-length: 3x\r\n\r\nabc`],
      ['a folded header', `${good}x-a: b\r\n c\r\ncontent-length: 0\r\n\r\n`],
      ['white space before the colon', `${good}content-length : 3\r\n\r\nabc`],
      ['chunked that is not the last coding', `${good}transfer-encoding: chunked, gzip\r\n\r\n0\r\n\r\n`],
      ['P-17: another coding before chunked', `${good}transfer-encoding: gzip, chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n`],
      [
        'P-17: the same in two headers',
        `${good}transfer-encoding: gzip\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n`,
      ],
      ['a head that is too long', `${good}x-a: ${'a'.repeat(20_000)}\r\n\r\n`],
      ['no Host', 'authorization: Bearer good\r\ncontent-length: 0\r\n\r\n'],
      ['two Hosts', `${good}host: b\r\ncontent-length: 0\r\n\r\n`],
    ])('%s: 400 with a Status, and close', async (_, lines) => {
      await start()
      const client = await open()
      const reply = await client.send(`POST /v1/traces HTTP/1.1\r\n${lines}`).reply()
      expect(reply).toMatchObject({
        status: 400,
        headers: { connection: 'close', 'content-type': 'application/json' },
      })
      expect(JSON.parse(reply.body.toString())).toMatchObject({ code: 3 })
      await client.closed
      expect(front.ingest.sent).toEqual([])
    })

    test('X-6: a change of the system time does not affect the time limits', async () => {
      await start()
      const beginBody = async () => {
        const client = await open()
        const asked = front.ingest.admissionRequests.length
        client.send(`${head({ 'content-length': '3' })}a`)
        await vi.waitUntil(() => front.ingest.admissionRequests.length > asked)
        return client
      }
      const early = await beginBody()
      front.clock.stepSystemTime(3_600_000)
      await front.clock.advance(2_000)
      expect(await early.send('bc').reply()).toMatchObject({ status: 200 })
      const late = await beginBody()
      front.clock.stepSystemTime(-3_600_000)
      await front.clock.advance(20_000)
      expect(await late.reply()).toMatchObject({ status: 503 })
    })

    test('an invalid chunk: answers 400 and aborts the upstream request', async () => {
      await start()
      const client = await open()
      client.send(`${head({ 'transfer-encoding': 'chunked' })}3\r\nabc\r\n`).send('zz\r\n')
      expect(await client.reply()).toMatchObject({ status: 400, headers: { connection: 'close' } })
      await front.ingest.untilSent(1)
      expect(front.ingest.sent[0]?.broken).toBeDefined()
    })

    test('does not answer noise after a request before the request itself', async () => {
      await start()
      const gone = new Gate()
      front.ingest.answer = async (call) => {
        call.onClientGone = () => gone.open()
        await gone.opened
        return accepted
      }
      const client = await open()
      client.send(Buffer.concat([post('abc'), Buffer.from('noise\r\n\r\n')]))
      await expect(client.reply()).rejects.toThrow('closed after ""')
      await gone.opened
    })
  })

  describe('X-6: cuts off slow clients', () => {
    test('before the first byte', async () => {
      await start()
      const client = await open()
      await front.clock.untilSleeping()
      await front.clock.advance(11_000)
      await client.closed
    })

    test.each([['P'], ['POST /v1/traces HTTP/1.1\r\nhost: a\r\nx-'], ['PRI * HT']])(
      'in the head: %j',
      async (beginning) => {
        await start()
        const client = await open()
        client.send(beginning)
        await front.clock.advance(5_000)
        client.send(beginning.startsWith('POST') ? 'a' : '')
        await front.clock.advance(6_000)
        await client.closed
      },
    )

    test('within the slow head of a second request', async () => {
      await start()
      const client = await open()
      await client.send(post('abc')).reply()
      await front.clock.advance(2_000)
      for (const piece of ['POST /v1/', 'traces ']) {
        await new Promise<void>((resolve) => client.socket.write(piece, () => resolve()))
        await front.clock.advance(6_000)
      }
      await front.clock.advance(6_000)
      await client.closed
    })

    test('within a body, with a retryable answer', async () => {
      await start()
      const client = await open()
      client.send(head({ 'content-length': '500' })).send('abc')
      await front.ingest.untilAdmissionRequested()
      await front.clock.advance(14_000)
      client.send('d')
      await front.clock.advance(17_000)
      expect(await client.reply()).toMatchObject({ status: 503, headers: { connection: 'close', 'retry-after': '3' } })
      await client.closed
      expect(front.ingest.reservedBytes).toBe(0)
    })

    test('within the body of a request that was sent together with an answered one', async () => {
      await start()
      const client = await open()
      client.send(post('abc') + head({ 'content-length': '500' })).send('abc')
      expect(await client.reply()).toMatchObject({ status: 200 })
      await front.clock.advance(17_000)
      expect(await client.reply()).toMatchObject({ status: 503, headers: { connection: 'close' } })
      await client.closed
      expect(front.ingest.reservedBytes).toBe(0)
    })

    test('within the body of a refused request that was sent together with an answered one', async () => {
      await start()
      const client = await open()
      client.send(post('abc') + head({ authorization: 'Bearer bad', 'content-length': '500' })).send('abc')
      expect(await client.reply()).toMatchObject({ status: 200 })
      expect(await client.reply()).toMatchObject({ status: 401 })
      await front.clock.advance(12_000)
      await client.closed
    })

    test('within a body over HTTP/2', async () => {
      await start({ idleBodyTimeoutMs: 20 })
      const session = openHttp2()
      const stream = session.request({
        ...{
          ':method': 'POST',
          ':path': '/v1/traces',
          authorization: 'Bearer good',
          'content-type': 'application/json',
        },
      })
      stream.on('error', () => {})
      await new Promise((resolve) => stream.write('abc', resolve))
      const answered = new Promise((resolve) => stream.on('response', (reply) => resolve(reply[':status'])))
      // The answer to a ping shows that everything before it has arrived.
      await new Promise((resolve) => session.ping(resolve))
      await front.clock.advance(1_000)
      expect(await answered).toBe(503)
    })

    test('between requests, after 75 seconds', async () => {
      await start()
      const client = await open()
      await client.send(post('abc')).reply()
      await front.clock.advance(70_000)
      expect(await client.send(post('abc')).reply()).toMatchObject({ status: 200 })
      await front.clock.advance(77_000)
      await client.closed
      expect(connections('http')).toBe(0)
    })

    test('but not while they wait for an answer', async () => {
      await start()
      const answered = new Gate()
      front.ingest.answer = async () => {
        await answered.opened
        return accepted
      }
      const client = await open()
      client.send(post('abc'))
      await front.ingest.untilSent(1)
      await front.clock.advance(100_000)
      answered.open()
      expect(await client.reply()).toMatchObject({ status: 200 })
    })
  })

  test('X-5: closes the connection of an HTTP/2 client that closes its side', async () => {
    await start()
    const client = await open()
    client.send(Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), Buffer.of(0, 0, 0, 4, 0, 0, 0, 0, 0)]))
    await once(client.socket, 'data')
    expect(connections('grpc')).toBe(1)
    client.socket.end()
    await client.closed
    while (connections('grpc') > 0) await new Promise((resolve) => setImmediate(resolve))
  })

  describe('X-8: maximum age of connections', () => {
    test.each([
      [0, 54_000],
      [0.5, 60_000],
      [1, 66_000],
    ])('HTTP/1.1, roll %d: the next reply after %d ms says so', async (roll, ageMs) => {
      await start({ settings: { maxConnectionAgeMs: 60_000 }, random: () => roll })
      const client = await open()
      await client.send(post('abc')).reply()
      await front.clock.advance(ageMs - 2_000)
      expect(await client.send(post('abc')).reply()).toMatchObject({ headers: { connection: 'keep-alive' } })
      await front.clock.advance(3_000)
      expect(await client.send(post('abc')).reply()).toMatchObject({ status: 200, headers: { connection: 'close' } })
      await client.closed
    })

    test('P-11: does not close the connection with a reply that precedes the end of the body', async () => {
      await start({ settings: { maxConnectionAgeMs: 10_000 } })
      const client = await open()
      await client.send(post('abc')).reply()
      await front.clock.advance(11_000)
      client.send(head({ 'content-length': '5', authorization: '' }))
      expect(await client.reply()).toMatchObject({ status: 401, headers: { connection: 'keep-alive' } })
      client.send('abcde').send(post('abc'))
      expect(await client.reply()).toMatchObject({ status: 200, headers: { connection: 'close' } })
    })

    test('HTTP/2: sends GOAWAY in two steps, and answers requests in flight', async () => {
      await start({ settings: { maxConnectionAgeMs: 10_000 } })
      const answered = new Gate()
      front.ingest.answer = async () => {
        await answered.opened
        return accepted
      }
      const session = openHttp2()
      const goaways: number[] = []
      session.on('goaway', (_code, lastStreamId) => goaways.push(lastStreamId))
      const closed = new Promise((resolve) => session.on('close', resolve))
      const status = statusOver(session)
      await front.ingest.untilSent(1)
      await front.clock.advance(13_000)
      answered.open()
      expect(await status).toBe(200)
      await closed
      // Node sends another GOAWAY when the last stream has ended.
      expect(goaways.slice(0, 2)).toEqual([2 ** 31 - 1, 1])
    })
  })

  describe('X-15: drain', () => {
    test('answers requests in flight, then closes every connection', async () => {
      await start()
      const answered = new Gate()
      front.ingest.answer = async () => {
        await answered.opened
        return accepted
      }
      const busy = await open()
      const idle = await open()
      await idle.send(head({ authorization: '' })).reply()
      busy.send(post('abc'))
      const session = openHttp2()
      const overHttp2 = statusOver(session)
      await front.ingest.untilSent(2)
      const drained = front.listener.drain(20_000)
      await expect(RawClient.open(front.port)).rejects.toThrow('ECONNREFUSED')
      answered.open()
      expect(await busy.reply()).toMatchObject({ status: 200, headers: { connection: 'close' } })
      expect(await overHttp2).toBe(200)
      await front.clock.advance(3_000)
      await drained
      await idle.closed
    })

    test('still accepts a request that arrives in time', async () => {
      await start()
      const client = await open()
      await client.send(post('abc')).reply()
      const drained = front.listener.drain(20_000)
      expect(await client.send(post('abc')).reply()).toMatchObject({ status: 200, headers: { connection: 'close' } })
      await drained
    })

    test('cuts off connections that do not end in time', async () => {
      await start()
      front.ingest.answer = () => new Promise(() => {})
      const client = await open()
      client.send(post('abc'))
      await front.ingest.untilSent(1)
      const drained = front.listener.drain(5_000)
      await front.clock.advance(6_000)
      await drained
      await client.closed
    })
  })
})

test('rejects with the system error if the port is in use', async () => {
  await start()
  await expect(startFront({ port: front.port })).rejects.toThrow('EADDRINUSE')
})

test('P-26: advertises the limit of concurrent streams', async () => {
  await start({ settings: { maxStreamsPerConnection: 7 } })
  const session = openHttp2()
  const settings = await new Promise<{ maxConcurrentStreams?: number }>((resolve) =>
    session.on('remoteSettings', resolve),
  )
  expect(settings.maxConcurrentStreams).toBe(7)
})
