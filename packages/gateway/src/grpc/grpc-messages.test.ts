import { once } from 'node:events'
import { connect, type IncomingHttpHeaders } from 'node:http2'
import type { Readable } from 'node:stream'
import { gzipSync } from 'node:zlib'
import { decodeRpcStatus } from '@penstock/otlp'
import { Gate, ManualClock } from '@penstock/testkit'
import { describe, expect, onTestFinished, test } from 'vitest'
import { tokenRecord } from '../contract/token-record.harness.ts'
import { onBothPaths } from '../ingest/both-paths.harness.ts'
import { frame } from '../wire/grpc-wire.ts'
import { accepted, admittedWithoutToken, type Harness, raw, retryDelayOf, start } from './grpc-front.harness.ts'
import { END_STREAM, exportHeaders, FrameType } from './grpc-raw-client.harness.ts'

onBothPaths(() => {
  describe('messages', () => {
    /** Sends the pieces as DATA frames, of which the last ends the stream, and returns the status of the answer. */
    async function statusOf(
      harness: Harness,
      headers: Record<string, string>,
      ...pieces: Uint8Array[]
    ): Promise<number> {
      const client = await raw(harness)
      client.headers(1, { ...exportHeaders, ...headers })
      pieces.forEach((piece, index) => {
        client.data(1, piece, index === pieces.length - 1)
      })
      await client.until(() => client.of(1).some(({ flags, type }) => type === FrameType.HEADERS && flags & END_STREAM))
      return harness.endings.at(-1)!.status
    }

    const message = Buffer.from('0123456789')
    const framed = frame(message, false)

    test.each([true, false])('accepts a message in any pieces (buffered: %s)', async (buffersBodies) => {
      const harness = await start()
      harness.ingest.buffersBodies = buffersBodies
      for (let at = 0; at <= framed.length; at += 3) {
        expect(await statusOf(harness, {}, framed.subarray(0, at), framed.subarray(at), Buffer.alloc(0))).toBe(0)
      }
      expect(await statusOf(harness, {}, ...Array.from(framed, (byte) => Uint8Array.of(byte)))).toBe(0)
      expect(new Set(harness.ingest.bodies.map(String))).toEqual(new Set(['0123456789']))
      expect(harness.ingest.reservedBytes).toBe(0)
    })

    test('P-19: accepts an empty message', async () => {
      const harness = await start()
      expect(await statusOf(harness, {}, frame(Buffer.alloc(0), false))).toBe(0)
      expect(harness.ingest.bodies).toEqual([Buffer.alloc(0)])
    })

    test.each([
      ['no message', {}, [Buffer.alloc(0)], 13],
      ['half a prefix', {}, [framed.subarray(0, 3)], 13],
      ['a message shorter than its prefix', {}, [framed.subarray(0, 12)], 13],
      ['more than one message', {}, [framed, framed], 13],
      ['a flag of 2', {}, [Buffer.from('0200000000', 'hex')], 13],
      ['a compressed message without grpc-encoding', {}, [frame(message, true)], 13],
      ['a compressed message with grpc-encoding identity', { 'grpc-encoding': 'identity' }, [frame(message, true)], 13],
    ])('refuses %s', async (_, headers, pieces, code) => {
      for (const buffersBodies of [true, false]) {
        const harness = await start()
        harness.ingest.buffersBodies = buffersBodies
        expect(await statusOf(harness, headers, ...pieces)).toBe(code)
        expect(harness.ingest.bodies).toEqual([])
        expect(harness.ingest.reservedBytes).toBe(0)
      }
    })

    test.each([
      ['gzip', 'gzip', true, 'gzip'],
      ['GZIP', 'GZIP', true, 'gzip'],
      ['deflate', 'deflate', true, 'deflate'],
      ['a message that is not compressed', 'gzip', false, ''],
    ])('P-7: forwards %s unchanged', async (_, coding, isCompressed, contentEncoding) => {
      const harness = await start()
      const body = coding.toLowerCase() === 'gzip' && isCompressed ? gzipSync(message) : message
      expect(await statusOf(harness, { 'grpc-encoding': coding }, frame(body, isCompressed))).toBe(0)
      expect(harness.ingest.calls).toMatchObject([{ contentEncoding, declaredBytes: body.length }])
      expect(harness.ingest.bodies).toEqual([body])
    })

    test.each(['zstd', 'snappy', 'gzip,zstd', ''])(
      'P-7: refuses the encoding "%s", and says which are accepted',
      async (coding) => {
        const { client, ingest, address } = await start()
        const session = connect(`http://${address}`)
        onTestFinished(() => session.destroy())
        const stream = session.request({ ...exportHeaders, 'grpc-encoding': coding })
        stream.end(frame(message, true))
        const [headers] = (await once(stream, 'response')) as [IncomingHttpHeaders]
        expect(headers).toMatchObject({ 'grpc-status': '12', 'grpc-accept-encoding': 'gzip,deflate,identity' })
        expect(ingest.calls).toEqual([])
        expect((await client.unary(message)).trailers.get('grpc-accept-encoding')).toEqual([])
      },
    )

    test('P-8: refuses a message that is too long by its prefix, with code 8 and without RetryInfo', async () => {
      const { client, ingest } = await start({ maxBodyBytes: 1_000 })
      const reply = await client.unary(Buffer.alloc(1_001))
      expect([reply.code, retryDelayOf(reply)]).toEqual([8, undefined])
      expect(ingest.calls).toHaveLength(0)
      expect(await client.unary(Buffer.alloc(1_000))).toMatchObject({ code: 0 })
    })

    test.each([true, false])('P-9: refuses a gzip bomb (buffered: %s)', async (buffersBodies) => {
      const harness = await start({ maxBodyBytes: 1_000_000 })
      harness.ingest.buffersBodies = buffersBodies
      const bomb = gzipSync(Buffer.alloc(1_000_001))
      expect(await statusOf(harness, { 'grpc-encoding': 'gzip' }, frame(bomb, true))).toBe(8)
      expect(harness.ingest.bodies).toEqual([])
      expect(harness.ingest.reservedBytes).toBe(0)
    })

    test.each([true, false])(
      'forwards a gzip bomb with a valid token unchanged, unless all bodies are inspected (buffered: %s)',
      async (buffersBodies) => {
        const bomb = gzipSync(Buffer.alloc(1_000_001))
        for (const inspectInflatedSize of ['unauthenticated', 'always'] as const) {
          const harness = await start({ maxBodyBytes: 1_000_000, inspectInflatedSize })
          harness.ingest.buffersBodies = buffersBodies
          harness.ingest.admission = { ...admittedWithoutToken, auth: 'verified', token: tokenRecord() }
          const isForwarded = inspectInflatedSize === 'unauthenticated'
          expect(await statusOf(harness, { 'grpc-encoding': 'gzip' }, frame(bomb, true))).toBe(isForwarded ? 0 : 8)
          expect(harness.ingest.bodies).toEqual(isForwarded ? [bomb] : [])
        }
      },
    )

    test.each([true, false])(
      'answers a BadRequest to a message that is not gzip (buffered: %s)',
      async (buffersBodies) => {
        const harness = await start({ maxBodyBytes: 1_000_000 })
        harness.ingest.buffersBodies = buffersBodies
        const session = connect(`http://${harness.address}`)
        const stream = session.request({ ...exportHeaders, 'grpc-encoding': 'gzip' })
        stream.end(frame(Buffer.alloc(2_000), true))
        const [headers] = (await once(stream, 'response')) as [IncomingHttpHeaders]
        session.destroy()
        expect(headers['grpc-status']).toBe('3')
        const description = 'The message is not valid gzip.'
        expect(
          decodeRpcStatus(Buffer.from(headers['grpc-status-details-bin'] as string, 'base64'), 'protobuf'),
        ).toEqual({
          code: 3,
          message: description,
          retryDelayMs: undefined,
          fieldViolations: [{ field: 'body', description }],
        })
      },
    )

    test('X-3: refuses a message if the memory budget is exhausted', async () => {
      const { client, ingest } = await start()
      ingest.noRoom = { kind: 'overloaded', message: 'full', retryAfterSeconds: 2 }
      const reply = await client.unary(Buffer.alloc(8_000_000))
      expect([reply.code, retryDelayOf(reply)]).toEqual([14, 2_000])
    })

    test('X-1: stops reading a streamed message while upstream does not read', async () => {
      const harness = await start()
      const gate = new Gate()
      let seen = 0
      harness.ingest.buffersBodies = false
      harness.ingest.sendStream = async (_, body: Readable) => {
        await gate.opened
        for await (const part of body) seen += part.length
        return accepted
      }
      const reply = harness.client.unary(Buffer.alloc(5_000_000))
      gate.open()
      expect(await reply).toMatchObject({ code: 0 })
      expect(seen).toBe(5_000_000)
    })

    test('does not forward gRPC and hop-by-hop headers', async () => {
      const { client, ingest } = await start()
      await client.unary(Buffer.alloc(0), {
        metadata: { authorization: 'Bearer x', 'x-mine': '1', 'x-ingest-token-id': 'spoof', 'x-scope-orgid': 'spoof' },
        timeoutMs: 5_000,
      })
      const names = ingest.calls[0]!.headers.filter((_, index) => index % 2 === 0)
      expect(names.toSorted()).toEqual(['user-agent', 'x-mine'])
    })

    test('P-23: converts grpc-timeout to a deadline', async () => {
      const clock = new ManualClock(1_000_000)
      const harness = await start({ clock })
      expect(await statusOf(harness, { 'grpc-timeout': '1500m' }, framed)).toBe(0)
      expect(harness.ingest.calls).toMatchObject([{ deadlineMs: 6_500 }])
    })
  })
})
