import { once } from 'node:events'
import { connect } from 'node:http2'
import { decodeExportResponse } from '@penstock/otlp'
import { Gate, ManualClock } from '@penstock/testkit'
import { describe, expect, test } from 'vitest'
import type { Answer, Refused } from '../contract/answer.ts'
import type { Refusal } from '../contract/refusals.ts'
import { onBothPaths } from '../ingest/both-paths.harness.ts'
import { frame } from '../wire/grpc-wire.ts'
import { accepted, admittedWithoutToken, raw, retryDelayOf, start } from './grpc-front.harness.ts'
import { END_STREAM, exportHeaders, FrameType } from './grpc-raw-client.harness.ts'

const refuse = (refusal: Refusal) => ({ admitted: false, refusal }) as const
const unauthenticated = refuse({ kind: 'unauthenticated', message: 'The ingest token is not valid.' })

onBothPaths(() => {
  describe('P-20: methods', () => {
    test.each([
      ['traces', '/opentelemetry.proto.collector.trace.v1.TraceService/Export'],
      ['metrics', '/opentelemetry.proto.collector.metrics.v1.MetricsService/Export'],
      ['logs', '/opentelemetry.proto.collector.logs.v1.LogsService/Export'],
      ['profiles', '/opentelemetry.proto.collector.profiles.v1development.ProfilesService/Export'],
    ])('%s', async (signal, path) => {
      const { client, ingest } = await start()
      const reply = await client.unary(Buffer.from('body'), { path })
      expect([reply.code, reply.message]).toEqual([0, Buffer.alloc(0)])
      expect(ingest.calls).toMatchObject([
        {
          transport: 'grpc',
          signal,
          encoding: 'protobuf',
          contentEncoding: '',
          declaredBytes: 4,
          deadlineMs: undefined,
        },
      ])
      expect(ingest.bodies.map(String)).toEqual(['body'])
    })

    test.each([
      '/opentelemetry.proto.collector.trace.v1.TraceService/Stream',
      '/opentelemetry.proto.collector.trace.v1.TraceService/export',
      '//opentelemetry.proto.collector.trace.v1.TraceService/Export',
      '/constructor',
      '/__proto__',
    ])('answers unimplemented for %s', async (path) => {
      const { client, ingest } = await start()
      expect(await client.unary(Buffer.alloc(0), { path })).toMatchObject({ code: 12 })
      expect(ingest.admissionRequests).toHaveLength(0)
    })
  })

  test('refuses a host that differs from :authority', async () => {
    const { port, ingest } = await start()
    const session = connect(`http://127.0.0.1:${port}`)
    const codeWith = async (host: string) => {
      const stream = session.request({ ...exportHeaders, ':authority': 'a.example', host })
      stream.resume().end(frame(Buffer.from('body'), false))
      let code: unknown
      stream.on('response', (headers) => {
        code = headers['grpc-status']
      })
      stream.on('trailers', (headers) => {
        code = headers['grpc-status']
      })
      await once(stream, 'close')
      return code
    }
    expect([await codeWith('a.example'), await codeWith('b.example')]).toEqual(['0', '3'])
    expect(ingest.calls).toHaveLength(1)
    session.destroy()
  })

  describe('P-21, P-22: refusals', () => {
    test('code 16 reaches a client that is sending 8 MB, 20 times on one connection', async () => {
      const { client, ingest, endings } = await start()
      ingest.admission = unauthenticated
      const large = Buffer.alloc(8_000_000, 'x')
      for (let i = 0; i < 20; i++) {
        expect(await client.unary(large)).toMatchObject({ code: 16, details: 'The ingest token is not valid.' })
      }
      expect(ingest.calls).toHaveLength(0)
      expect(endings[0]).toMatchObject({ outcome: 'refused', status: 16, refusedAs: 'unauthenticated', wireBytes: 0 })
      ingest.admission = admittedWithoutToken
      expect(await client.unary(large)).toMatchObject({ code: 0 })
    })

    test('sends one HEADERS frame that ends the stream, then RST_STREAM NO_ERROR, and opens no window for the body', async () => {
      const harness = await start()
      harness.ingest.admission = unauthenticated
      const client = await raw(harness)
      client.headers(1, exportHeaders)
      client.data(1, frame(Buffer.alloc(16_000), false))
      await client.until(() => client.of(1).some(({ type }) => type === FrameType.RST_STREAM))
      const [headers, reset, ...more] = client.of(1)
      expect(headers).toMatchObject({ type: FrameType.HEADERS, flags: 5 })
      expect(reset).toMatchObject({ type: FrameType.RST_STREAM, payload: Buffer.alloc(4) })
      expect(more).toEqual([])
    })

    test('decides on the headers, and gives the reason in printable ASCII', async () => {
      const harness = await start()
      harness.ingest.admission = refuse({ kind: 'forbidden', message: 'naïve' })
      const client = await raw(harness)
      client.headers(1, {
        ...exportHeaders,
        authorization: 'Bearer x',
        'user-agent': 'raw/1',
        origin: 'https://a.example',
      })
      await client.until(() => client.of(1).length === 2)
      expect(client.of(1)[0]!.flags & END_STREAM).toBe(END_STREAM)
      expect(harness.ingest.admissionRequests).toEqual([
        {
          transport: 'grpc',
          signal: 'traces',
          credential: { kind: 'bearer', value: 'x', from: 'header' },
          origin: 'https://a.example',
          source: '127.0.0.1',
          userAgent: 'raw/1',
          declaredBytes: undefined,
        },
      ])
      expect(await harness.client.unary(Buffer.alloc(0))).toMatchObject({ code: 7, details: 'naïve' })
    })

    test.each([
      ['grace_hold', 14, 3_000],
      ['over_limit', 14, 3_000],
      ['overloaded', 14, 3_000],
      ['draining', 14, 3_000],
      ['forbidden', 7, undefined],
      ['body_too_large', 8, undefined],
    ] as const)('P-24: maps %s to code %i with RetryInfo %s', async (kind, code, delayMs) => {
      const { client, ingest } = await start()
      ingest.admission = refuse({ kind, message: 'no', retryAfterSeconds: 3 })
      const reply = await client.unary(Buffer.alloc(0))
      expect([reply.code, retryDelayOf(reply)]).toEqual([code, delayMs])
    })

    test('T-9: refuses two credentials', async () => {
      const harness = await start()
      const client = await raw(harness)
      client.headers(1, [
        ...Object.entries(exportHeaders),
        ['authorization', 'Bearer x'],
        ['authorization', 'Bearer y'],
      ])
      client.data(1, frame(Buffer.alloc(0), false), true)
      await client.until(() => client.of(1).length > 0)
      expect(harness.ingest.admissionRequests[0]!.credential).toEqual({ kind: 'malformed' })
    })

    test('E-2, E-3: the decision applies to one call only, until its end', async () => {
      const gate = new Gate()
      const { client, ingest } = await start()
      ingest.answer = async () => {
        await gate.opened
        return accepted
      }
      const first = client.unary(Buffer.from('a'))
      await ingest.until(() => ingest.calls.length === 1)
      ingest.admission = unauthenticated
      expect(await client.unary(Buffer.from('b'))).toMatchObject({ code: 16 })
      gate.open()
      expect(await first).toMatchObject({ code: 0 })
    })

    test('P-4: refuses other content types after the credential check', async () => {
      const harness = await start()
      const client = await raw(harness)
      client.headers(1, { ...exportHeaders, 'content-type': 'application/grpc+json' })
      await client.until(() => client.of(1).length === 2)
      expect(harness.endings).toMatchObject([{ status: 3, refusedAs: 'unsupported_media_type' }])
      expect(harness.ingest.admissionRequests).toHaveLength(1)
    })
  })

  describe('answers', () => {
    const refused = (changes: Partial<Refused>): Answer => ({
      kind: 'refused',
      cause: 'rejected',
      httpStatus: 400,
      grpcCode: 3,
      message: 'no',
      retryAfter: undefined,
      status: undefined,
      ...changes,
    })

    const partial = Buffer.from('0a06080212026e6f', 'hex')

    test('passes on the bytes of upstream', async () => {
      const { client, ingest } = await start()
      const body = { encoding: 'protobuf', bytes: partial } as const
      ingest.answer = () => ({ kind: 'accepted', partialSuccess: { rejected: 2n, message: 'no' }, body })
      expect(await client.unary(Buffer.alloc(0))).toMatchObject({ code: 0, message: partial })
    })

    test('encodes the partial success of a JSON upstream', async () => {
      const { client, ingest } = await start()
      const body = { encoding: 'json', bytes: Buffer.from('{}') } as const
      ingest.answer = () => ({ kind: 'accepted', partialSuccess: { rejected: 2n, message: 'no' }, body })
      expect(await client.unary(Buffer.alloc(0))).toMatchObject({ code: 0, message: partial })
    })

    test('E-5, O-9: sends a warning with full successes only', async () => {
      const harness = await start()
      const { client, ingest } = harness
      ingest.admission = { ...admittedWithoutToken, warning: 'this token ends soon', expiresAt: '2026-12-01T00:00:00Z' }
      const warned = await client.unary(Buffer.alloc(0))
      expect(decodeExportResponse('traces', warned.message!, 'protobuf')).toEqual({
        rejected: 0n,
        message: 'this token ends soon',
      })
      ingest.answer = () => ({ kind: 'accepted', partialSuccess: { rejected: 2n, message: 'no' }, body: undefined })
      expect(await client.unary(Buffer.alloc(0))).toMatchObject({ message: partial })
    })

    test('P-25: passes on the details of upstream unchanged', async () => {
      const { client, ingest } = await start()
      const details = Buffer.from('0803120a62616420726571756573', 'hex')
      ingest.answer = () =>
        refused({ message: 'bad request', status: { encoding: 'protobuf', bytes: Buffer.from('08031202686d', 'hex') } })
      const reply = await client.unary(Buffer.alloc(0))
      expect(reply).toMatchObject({ code: 3, details: 'bad request' })
      expect(reply.trailers.get('grpc-status-details-bin')).toEqual([Buffer.from('08031202686d', 'hex')])
      ingest.answer = () => refused({ grpcCode: 13, status: { encoding: 'protobuf', bytes: details } })
      expect((await client.unary(Buffer.alloc(0))).trailers.get('grpc-status-details-bin')).toEqual([])
    })

    test.each([
      [{ cause: 'throttled', httpStatus: 503, grpcCode: 14, retryAfter: 4 }, 14, 4_000],
      [{ cause: 'throttled', httpStatus: 503, grpcCode: 14, retryAfter: 'Thu, 01 Jan 1970 00:00:25 GMT' }, 14, 5_000],
      [{ cause: 'throttled', httpStatus: 503, grpcCode: 14, retryAfter: 'Thu, 01 Jan 1970 00:00:01 GMT' }, 14, 1_000],
      [{ cause: 'too_large', httpStatus: 413, grpcCode: 8 }, 8, undefined],
      [{ cause: 'unknown', httpStatus: 504, grpcCode: 4 }, 4, undefined],
    ] as const)('P-24: states the wait of %j', async (changes, code, delayMs) => {
      const { client, ingest } = await start({ clock: new ManualClock(20_000) })
      ingest.answer = () => refused(changes)
      const reply = await client.unary(Buffer.alloc(0))
      expect([reply.code, retryDelayOf(reply)]).toEqual([code, delayMs])
    })

    test('answers code 14 with RetryInfo after an internal error', async () => {
      const { client, ingest } = await start()
      ingest.sendBuffered = () => Promise.reject(new Error('a bug'))
      const reply = await client.unary(Buffer.alloc(0))
      expect([reply.code, retryDelayOf(reply)]).toEqual([14, 3_000])
      ingest.admit = () => {
        throw new Error('another')
      }
      expect(await client.unary(Buffer.alloc(0))).toMatchObject({ code: 14 })
    })

    test('passes on an answer that arrives before the message is complete', async () => {
      const { client, ingest } = await start()
      ingest.buffersBodies = false
      ingest.sendStream = async () => refused({ grpcCode: 14, cause: 'unreachable', httpStatus: 503, retryAfter: 2 })
      expect(await client.unary(Buffer.alloc(8_000_000))).toMatchObject({ code: 14 })
    })
  })
})
