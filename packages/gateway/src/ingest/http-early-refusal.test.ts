import { Agent, request as nodeRequest } from 'node:http'
import { gzipSync } from 'node:zlib'
import { Gate } from '@penstock/testkit'
import { Client } from 'undici'
import { describe, expect, test } from 'vitest'
import { tooLarge } from '../body/request-body.ts'
import { gatewayRefusal } from '../contract/gateway-answers.ts'
import { tokenRecord } from '../contract/token-record.harness.ts'
import { onBothPaths } from './both-paths.harness.ts'
import { accepted, chunk, front, head, open, post, readAll, start } from './http-front.harness.ts'

onBothPaths(() => {
  const MiB = 1024 * 1024

  describe('P-11: an early refusal reaches the client', () => {
    const large = Buffer.alloc(8 * MiB)
    const noToken = { authorization: '' }

    test('arrives before the body is sent, and the connection can be used again', async () => {
      await start()
      const client = await open()
      client.send(head({ ...noToken, 'content-length': String(large.length) }))
      expect(await client.reply()).toMatchObject({ status: 401, headers: { connection: 'keep-alive' } })
      client.send(large).send(post('abc'))
      expect(await client.reply()).toMatchObject({ status: 200 })
    })

    test('arrives while the body is sent in chunks', async () => {
      await start()
      const client = await open()
      client.send(head({ ...noToken, 'transfer-encoding': 'chunked' }))
      expect(await client.reply()).toMatchObject({ status: 401 })
      client.send(chunk(large)).send('0\r\n\r\n').send(post('abc'))
      expect(await client.reply()).toMatchObject({ status: 200 })
    })

    test('reads the body before it closes the connection, also if both sides want to close it', async () => {
      await start()
      const client = await open()
      client.send(head({ ...noToken, connection: 'close', 'content-length': String(large.length) })).send(large)
      expect(await client.reply()).toMatchObject({ status: 401, headers: { connection: 'close' } })
      await client.closed
    })

    test('works with the HTTP client of Node', async () => {
      await start()
      const agent = new Agent({ keepAlive: true, maxSockets: 1 })
      for (let round = 0; round < 10; round += 1) {
        const status = await new Promise((resolve, reject) => {
          const request = nodeRequest(`${front.url}/v1/traces`, {
            method: 'POST',
            agent,
            headers: { 'content-length': large.length },
          })
          request.on('response', (response) => response.resume().on('end', () => resolve(response.statusCode)))
          request.on('error', reject)
          request.end(large)
        })
        expect(status).toBe(401)
      }
      agent.destroy()
    })

    test('works with undici', async () => {
      await start()
      const client = new Client(front.url)
      for (let round = 0; round < 10; round += 1) {
        const reply = await client.request({ method: 'POST', path: '/v1/traces', body: large })
        expect(reply.statusCode).toBe(401)
        await reply.body.dump()
      }
      await client.destroy()
    })

    test('reads at most 64 MiB', async () => {
      await start()
      const client = await open()
      client.send(head({ ...noToken, 'transfer-encoding': 'chunked' }))
      expect(await client.reply()).toMatchObject({ status: 401 })
      const piece = chunk(Buffer.alloc(MiB))
      let sent = 0
      const send = () => {
        sent += 1
        client.socket.write(piece, () => client.socket.destroyed || send())
      }
      send()
      await client.closed
      expect(sent).toBeGreaterThanOrEqual(64)
    })

    test('reads for at most 10 seconds', async () => {
      await start()
      const client = await open()
      client.send(head({ ...noToken, 'content-length': '1000' }))
      expect(await client.reply()).toMatchObject({ status: 401 })
      await front.clock.advance(9_000)
      client.send('abc')
      await front.clock.advance(1_000)
      await client.closed
    })
  })

  test('P-11: forwards no request that follows an answer with Connection: close', async () => {
    await start()
    const client = await open()
    const refused = head({ authorization: 'Bearer bad', expect: '100-continue', 'content-length': '3' })
    client.send(Buffer.concat([Buffer.from(`${refused}abc`), post('next'), post('last')]))
    expect(await client.reply()).toMatchObject({ status: 401, headers: { connection: 'close' } })
    await client.closed
    expect([front.ingest.admissionRequests.length, front.ingest.sent.length]).toEqual([1, 0])
  })

  describe('P-8: size on the wire', () => {
    const config = { maxBodyBytes: 10 * 1024 }

    test('refuses a declared length over the limit before reading the body, and accepts the limit itself', async () => {
      await start({ config })
      const client = await open()
      client.send(head({ 'content-length': '10241' }))
      expect(await client.reply()).toMatchObject({ status: 413 })
      client.send(Buffer.alloc(10_241)).send(post(Buffer.alloc(10_240)))
      expect(await client.reply()).toMatchObject({ status: 200 })
      expect(front.ingest.sent.map(({ body }) => body.length)).toEqual([10_240])
    })

    test('cuts off a chunked body at the limit, and never completes it upstream', async () => {
      await start({ config })
      const client = await open()
      client.send(head({ 'transfer-encoding': 'chunked' })).send(chunk(Buffer.alloc(10_240)))
      client.send(chunk(Buffer.alloc(1)))
      expect(await client.reply()).toMatchObject({ status: 413 })
      await front.ingest.untilSent(1)
      expect(front.ingest.sent[0]?.broken?.message).toBe('the request was answered before its end')
      client.send('0\r\n\r\n').send(post('abc'))
      expect(await client.reply()).toMatchObject({ status: 200 })
    })

    test('X-3: reads nothing without memory budget, and reserves it piece by piece for bodies of unknown length', async () => {
      await start()
      front.ingest.roomBytes = 100
      const client = await open()
      client.send(head({ 'content-length': '101' }))
      expect(await client.reply()).toMatchObject({ status: 503 })
      client
        .send(Buffer.alloc(101))
        .send(head({ 'transfer-encoding': 'chunked' }))
        .send(chunk(Buffer.alloc(101)))
      expect(await client.reply()).toMatchObject({ status: 503 })
      client.send('0\r\n\r\n').send(post(Buffer.alloc(100)))
      expect(await client.reply()).toMatchObject({ status: 200 })
      expect(front.ingest.reservedBytes).toBe(0)
    })
  })

  describe('P-8, P-9: inflated size', () => {
    const config = { maxBodyBytes: MiB }
    const gzip = { 'content-encoding': 'gzip' }
    const fits = gzipSync(Buffer.alloc(MiB, 'fits'))
    const bomb = gzipSync(Buffer.alloc(16 * MiB))
    const members = Buffer.concat(new Array<Buffer>(10_000).fill(gzipSync(Buffer.alloc(1024))))

    test.each([
      ['whole', Number.POSITIVE_INFINITY],
      ['streamed', 0],
    ])('%s: a bomb is 413, what fits is not', async (_, bufferLimitBytes) => {
      await start({ config })
      front.ingest.bufferLimitBytes = bufferLimitBytes
      const client = await open()
      expect(await client.send(post(bomb, gzip)).reply()).toMatchObject({ status: 413 })
      expect(await client.send(post(members, gzip)).reply()).toMatchObject({ status: 413 })
      expect(await client.send(post(Buffer.alloc(4_096, 'x'), gzip)).reply()).toMatchObject({ status: 400 })
      expect(await client.send(post(fits, gzip)).reply()).toMatchObject({ status: 200 })
      const whole = front.ingest.sent.filter(({ broken }) => broken === undefined)
      expect(whole.map(({ body }) => body.equals(fits))).toEqual([true])
      expect(front.ingest.reservedBytes).toBe(0)
    })

    test('refuses a gzip bomb in chunks', async () => {
      await start({ config })
      const client = await open()
      client
        .send(head({ ...gzip, 'transfer-encoding': 'chunked' }))
        .send(chunk(bomb))
        .send('0\r\n\r\n')
      expect(await client.reply()).toMatchObject({ status: 413 })
      await front.ingest.untilSent(1)
      expect(front.ingest.sent[0]?.broken).toBeDefined()
    })

    test('holds back the last piece of a gzip bomb with a declared length', async () => {
      await start({ config })
      front.ingest.bufferLimitBytes = 0
      let seenBytes = 0
      front.ingest.readStream = async (body) => {
        body.on('data', (piece: Buffer) => {
          seenBytes += piece.length
        })
        return readAll(body)
      }
      const client = await open()
      for (const body of [bomb, Buffer.alloc(200_000, 'x')]) {
        seenBytes = 0
        const { status } = await client.send(post(body, gzip)).reply()
        expect([status, seenBytes < body.length]).toEqual([body === bomb ? 413 : 400, true])
      }
    })

    test.each([
      ['whole', Number.POSITIVE_INFINITY],
      ['streamed', 0],
    ])(
      '%s: leaves the inflated size and the validity of gzip to upstream if the token is valid',
      async (_, bufferLimitBytes) => {
        await start({ config })
        front.ingest.bufferLimitBytes = bufferLimitBytes
        front.ingest.admitted = { ...front.ingest.admitted, token: tokenRecord() }
        front.ingest.answer = (_call, body) =>
          body.equals(bomb) ? gatewayRefusal(tooLarge(MiB, 'http'), 'too_large') : accepted
        const client = await open()
        expect(await client.send(post(bomb, gzip)).reply()).toMatchObject({ status: 413 })
        const noise = Buffer.alloc(4_096, 'x')
        expect(await client.send(post(noise, gzip)).reply()).toMatchObject({ status: 200 })
        expect(front.ingest.sent.map(({ body }) => body)).toEqual([bomb, noise])
      },
    )

    test('`always` also inflates bodies with a valid token', async () => {
      await start({ config: { ...config, inspectInflatedSize: 'always' } })
      front.ingest.admitted = { ...front.ingest.admitted, token: tokenRecord() }
      const client = await open()
      expect(await client.send(post(bomb, gzip)).reply()).toMatchObject({ status: 413 })
      expect(front.ingest.sent.filter(({ broken }) => broken === undefined)).toEqual([])
    })

    test('does not inspect a body that cannot exceed the limit', async () => {
      await start({ config })
      expect(await (await open()).send(post('not gzip', gzip)).reply()).toMatchObject({ status: 200 })
    })
  })

  describe('X-1: backpressure', () => {
    test('stops reading from the client while upstream does not read', async () => {
      await start()
      const opened = new Gate()
      const { readStream } = front.ingest
      front.ingest.readStream = async (body) => {
        await opened.opened
        return readStream(body)
      }
      const client = await open()
      const bytes = 32 * MiB
      client.send(head({ 'content-length': String(bytes) })).send(Buffer.alloc(bytes))
      await front.ingest.untilAdmissionRequested()
      // The body is silent for longer than its timeout, but because of upstream, not because of the client.
      for (let round = 0; round < 3; round += 1) await front.clock.advance(20_000)
      expect(client.socket.writableLength).toBeGreaterThan(0)
      opened.open()
      expect(await client.reply()).toMatchObject({ status: 200 })
      expect(front.ingest.sent[0]?.body.length).toBe(bytes)
    })

    test('passes on an answer that arrives before the end of the body, and discards the rest', async () => {
      await start()
      front.ingest.readStream = async (body) => {
        for await (const piece of body) return piece
        return Buffer.alloc(0)
      }
      const client = await open()
      client.send(head({ 'content-length': String(8 * MiB) })).send(Buffer.alloc(4 * MiB))
      expect(await client.reply()).toMatchObject({ status: 200 })
      client.send(Buffer.alloc(4 * MiB)).send(post('abc'))
      expect(await client.reply()).toMatchObject({ status: 200 })
    })
  })
})
