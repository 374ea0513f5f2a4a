import { PassThrough, Readable } from 'node:stream'
import { gunzipSync, gzipSync } from 'node:zlib'
import { decodeRequest, encodeRequest, encodeRpcStatus, type OtlpRequest } from '@penstock/otlp'
import { systemClock } from '@penstock/runtime'
import { Gate } from '@penstock/testkit'
import { describe, expect, test } from 'vitest'
import type { UpstreamAlarm } from '../contract/upstream.ts'
import { type GrpcPlay, type GrpcScript, ok, reply, trailersOnly } from './grpc-script.harness.ts'
import { body, requestOf, script, upstreamOf } from './grpc-upstream.harness.ts'

const traces: OtlpRequest<'traces'> = { resources: [] }
const json = Buffer.from('{"resourceSpans":[{"resource":{"attributes":[]},"scopeSpans":[],"schemaUrl":"here"}]}')

/** A second gzip member behind zero bytes: zlib stops at the zeros without an error. */
const hidden = Buffer.concat([gzipSync(json), Buffer.alloc(8), gzipSync(json)])

describe('sends upstream', () => {
  test('the body in one frame, the method, the gateway credential and the remaining time', async () => {
    const server = await script(ok)
    const answer = await upstreamOf(server.url).send(requestOf())
    expect(answer).toEqual({ kind: 'accepted', partialSuccess: undefined, body: undefined })
    const { headers, framed } = server.requests[0]!
    expect(headers).toMatchObject({
      ':method': 'POST',
      ':path': '/opentelemetry.proto.collector.trace.v1.TraceService/Export',
      'content-type': 'application/grpc',
      te: 'trailers',
      authorization: 'Bearer ours',
      'x-ingest-token-id': 'abc',
      'user-agent': 'sdk/1',
    })
    expect(headers['grpc-timeout']).toMatch(/^(9\d{3}|10000)m$/)
    expect(headers['grpc-encoding']).toBeUndefined()
    expect(framed.toString('latin1')).toBe('\0\0\0\0\rmessage bytes')
  })

  test.each(['gzip', 'zstd'])('a %s body unchanged, with the compressed flag', async (coding) => {
    const server = await script(ok)
    await upstreamOf(server.url).send(requestOf({ contentEncoding: coding }))
    expect(server.requests[0]!.headers['grpc-encoding']).toBe(coding)
    expect(server.requests[0]!.framed.toString('latin1')).toBe('\x01\0\0\0\rmessage bytes')
  })

  test('no headers that HTTP/2 forbids, and repeated ones joined', async () => {
    const server = await script(ok)
    const headers = ['connection', 'close', 'host', 'a', 'te', 'gzip', 'grpc-timeout', '1m', 'x-a', '1', 'x-a', '2']
    await upstreamOf(server.url).send(requestOf({ headers: [...headers, 'user-agent', 'a', 'user-agent', 'b'] }))
    expect(server.requests[0]!.headers).toMatchObject({ 'x-a': '1,2', 'user-agent': 'a,b', te: 'trailers' })
    expect(server.requests[0]!.headers.connection).toBeUndefined()
  })

  test('large bodies, in memory and as a stream of known or unknown length', async () => {
    const server = await script(ok)
    const upstream = upstreamOf(server.url)
    const large = Buffer.alloc(3_000_000, 'a')
    await upstream.send(requestOf({ body: large }))
    await upstream.send(requestOf({ body: Readable.from([large, body]), contentLength: 3_000_013 }))
    await upstream.send(requestOf({ body: Readable.from([large, body]) }))
    expect(server.requests.map(({ framed }) => framed.length)).toEqual([3_000_005, 3_000_018, 3_000_018])
    expect(server.requests.map(({ framed }) => framed.readUInt32BE(1))).toEqual([3_000_000, 3_000_013, 3_000_013])
  })

  test.each(['', 'gzip'])('JSON with content encoding "%s" as protobuf', async (contentEncoding) => {
    const server = await script(ok)
    const wire = contentEncoding === 'gzip' ? gzipSync(json) : json
    await upstreamOf(server.url).send(requestOf({ encoding: 'json', body: wire, contentEncoding }))
    const { framed, headers } = server.requests[0]!
    expect(headers['grpc-encoding']).toBeUndefined()
    expect(decodeRequest('traces', framed.subarray(5), 'protobuf').resources[0]!.schemaUrl).toBe('here')
  })

  test('an empty request', async () => {
    const server = await script(ok)
    await upstreamOf(server.url).send(requestOf({ body: encodeRequest('traces', traces, 'protobuf') }))
    expect(server.requests[0]!.framed.toString('hex')).toBe('0000000000')
  })
})

describe('refuses', () => {
  test.each([
    ['bad JSON', { encoding: 'json', body: Buffer.from('{"resourceSpans":') }, 400, 3],
    ['profiles in JSON', { encoding: 'json', signal: 'profiles', body: json }, 415, 3],
    ['JSON compressed with zstd', { encoding: 'json', contentEncoding: 'zstd', body: json }, 415, 3],
    ['JSON that is not gzip', { encoding: 'json', contentEncoding: 'gzip', body: json }, 400, 3],
    ['JSON with a gzip member behind zero bytes', { encoding: 'json', contentEncoding: 'gzip', body: hidden }, 400, 3],
  ] as const)('%s', async (_, changes, httpStatus, grpcCode) => {
    const server = await script(ok)
    const answer = await upstreamOf(server.url).send(requestOf(changes))
    expect(answer).toMatchObject({ kind: 'refused', cause: 'rejected', httpStatus, grpcCode })
    expect(server.begun).toHaveLength(0)
  })

  test.each([
    ['of unknown length', { body: Readable.from([Buffer.alloc(600), Buffer.alloc(600)]) }],
    ['inflated', { encoding: 'json', contentEncoding: 'gzip', body: gzipSync(Buffer.alloc(2_000)) }],
  ] as const)('P-8: a body %s that exceeds the buffer limit', async (_, changes) => {
    const server = await script(ok)
    const answer = await upstreamOf(server.url, { maxBufferedBytes: 1_000 }).send(requestOf(changes))
    expect(answer).toMatchObject({ kind: 'refused', cause: 'too_large', httpStatus: 413, grpcCode: 8 })
  })
})

describe('P-24, P-25: mapping of answers', () => {
  const retryIn = (code: number, ms: number | undefined) =>
    Buffer.from(encodeRpcStatus({ code, message: 'later', retryDelayMs: ms }, 'protobuf')).toString('base64')

  test.each([
    [1, 'unknown', 502, 1],
    [2, 'rejected', 500, 2],
    [3, 'rejected', 400, 3],
    [4, 'unknown', 504, 4],
    [5, 'rejected', 400, 5],
    [6, 'rejected', 409, 6],
    [7, 'credential', 503, 14],
    [8, 'too_large', 413, 8],
    [9, 'rejected', 400, 9],
    [10, 'unknown', 502, 10],
    [11, 'unknown', 502, 11],
    [12, 'throttled', 503, 14],
    [13, 'rejected', 500, 13],
    [14, 'throttled', 503, 14],
    [15, 'unknown', 502, 15],
    [16, 'credential', 503, 14],
    [99, 'rejected', 500, 99],
  ])('maps code %i to %s, HTTP %i and code %i', async (code, cause, httpStatus, grpcCode) => {
    const server = await script(trailersOnly({ 'grpc-status': String(code), 'grpc-message': 'na%C3%AFve' }))
    const answer = await upstreamOf(server.url).send(requestOf())
    expect(answer).toMatchObject({ kind: 'refused', cause, httpStatus, grpcCode })
    expect(answer).toHaveProperty('retryAfter', httpStatus === 503 ? 3 : undefined)
    if (grpcCode === code) expect(answer).toHaveProperty('message', 'naïve')
  })

  test('maps code 8 with RetryInfo to throttling', async () => {
    const details = retryIn(8, 7_200)
    const server = await script(trailersOnly({ 'grpc-status': '8', 'grpc-status-details-bin': details }))
    expect(await upstreamOf(server.url).send(requestOf())).toEqual({
      kind: 'refused',
      cause: 'throttled',
      httpStatus: 429,
      grpcCode: 8,
      message: 'later',
      retryAfter: 8,
      status: { encoding: 'protobuf', bytes: Buffer.from(details, 'base64') },
    })
  })

  test.each([7, 16])('passes code %i on if the credential is the client’s', async (code) => {
    const server = await script(trailersOnly({ 'grpc-status': String(code), 'grpc-message': 'who?' }))
    const answer = await upstreamOf(server.url, { credentialOwner: 'client', credential: () => undefined }).send(
      requestOf(),
    )
    expect(answer).toMatchObject({
      cause: 'credential',
      httpStatus: code === 7 ? 403 : 401,
      grpcCode: code,
      message: 'who?',
    })
  })

  test.each([
    ['7', 'gateway', ['credential']],
    ['16', 'gateway', ['credential']],
    ['16', 'client', []],
    ['12', 'client', ['misplaced']],
    ['14', 'gateway', []],
  ] as const)('code %s with a credential of the %s raises the alarms %j', async (code, credentialOwner, kinds) => {
    const server = await script(trailersOnly({ 'grpc-status': code }))
    const alarms: UpstreamAlarm[] = []
    const upstream = upstreamOf(server.url, { credentialOwner }, systemClock, (alarm) => alarms.push(alarm))
    await upstream.send(requestOf())
    await upstream.send(requestOf())
    const detail = `gRPC code ${code}`
    expect(alarms).toEqual([...kinds, ...kinds].map((kind) => ({ kind, upstream: upstream.name, detail })))
  })

  test.each([
    [400, 'rejected', 2],
    [401, 'credential', 14],
    [403, 'credential', 14],
    [404, 'throttled', 14],
    [429, 'throttled', 14],
    [500, 'rejected', 2],
    [502, 'unknown', 14],
    [503, 'throttled', 14],
    [504, 'unknown', 14],
    [302, 'unknown', 14],
    [200, 'unknown', 14],
  ])('maps HTTP %i without grpc-status to %s and code %i', async (status, cause, grpcCode) => {
    const server = await script(({ stream }) => {
      stream.respond({ ':status': status, 'content-type': 'text/html' })
      stream.end('<p>no</p>')
    })
    expect(await upstreamOf(server.url).send(requestOf())).toMatchObject({ kind: 'refused', cause, grpcCode })
  })

  test('P-6: treats an empty partial success as full success', async () => {
    const server = await script(reply({ message: Buffer.from('0a00', 'hex') }))
    expect(await upstreamOf(server.url).send(requestOf())).toEqual({
      kind: 'accepted',
      partialSuccess: undefined,
      body: undefined,
    })
  })

  const partial = Buffer.from('0a06080212026e6f', 'hex')
  test.each(['traces', 'profiles'] as const)(
    'passes on a partial success of %s with upstream’s bytes',
    async (signal) => {
      const server = await script(reply({ message: partial }))
      expect(await upstreamOf(server.url).send(requestOf({ signal }))).toEqual({
        kind: 'accepted',
        partialSuccess: { rejected: 2n, message: 'no' },
        body: { encoding: 'protobuf', bytes: partial },
      })
    },
  )

  test('reads a reply that is compressed although identity was requested', async () => {
    const server = await script(
      reply({ message: gzipSync(partial), isCompressed: true, headers: { 'grpc-encoding': 'gzip' } }),
    )
    expect(await upstreamOf(server.url).send(requestOf())).toMatchObject({
      partialSuccess: { rejected: 2n, message: 'no' },
      body: { bytes: partial },
    })
  })

  test('P-15: drops a reply beyond 4 MiB, but uses its status', async () => {
    const server = await script(reply({ message: Buffer.alloc(5 * 1024 * 1024) }))
    expect(await upstreamOf(server.url).send(requestOf())).toEqual({
      kind: 'accepted',
      partialSuccess: undefined,
      body: undefined,
    })
  })

  test('uses an answer that arrives before the body has been sent', async () => {
    const server = await script(trailersOnly({ 'grpc-status': '8' }), { onHeaders: true })
    const endless = new PassThrough()
    endless.write(Buffer.alloc(200_000))
    const answer = await upstreamOf(server.url).send(requestOf({ body: endless, contentLength: 5_000_000 }))
    expect(answer).toMatchObject({ cause: 'too_large', grpcCode: 8 })
  })
})

describe('X-4: second attempts', () => {
  const refuse: GrpcPlay = ({ stream }) => stream.close(7)

  test('sends again after REFUSED_STREAM', async () => {
    const server = await script([refuse, ok])
    expect(await upstreamOf(server.url).send(requestOf())).toMatchObject({ kind: 'accepted' })
    expect(server.requests).toHaveLength(2)
  })

  test('sends no third time after REFUSED_STREAM', async () => {
    const server = await script(refuse)
    expect(await upstreamOf(server.url).send(requestOf())).toMatchObject({
      cause: 'unreachable',
      httpStatus: 503,
      grpcCode: 14,
      retryAfter: 3,
    })
    expect(server.requests).toHaveLength(2)
  })

  test.each([
    ['a stream', () => requestOf({ body: Readable.from([body]), contentLength: body.length })],
    ['more than 1 MiB', () => requestOf({ body: Buffer.alloc(1024 * 1024 + 1) })],
  ])('does not send %s again', async (_, request) => {
    const server = await script([refuse, ok])
    expect(await upstreamOf(server.url).send(request())).toMatchObject({ kind: 'refused', cause: 'unreachable' })
    expect(server.requests).toHaveLength(1)
  })

  test.each([0, 11])(
    'sends again on a new connection after GOAWAY with code %i and a lower stream id',
    async (code) => {
      const server = await script([
        ok,
        ({ session, stream }) => {
          session.goaway(code, stream.id! - 2)
        },
        ok,
      ])
      const upstream = upstreamOf(server.url)
      await upstream.send(requestOf())
      expect(await upstream.send(requestOf())).toMatchObject({ kind: 'accepted' })
      expect(server.sessions).toHaveLength(2)
    },
  )

  test('waits for the answer after GOAWAY with a higher stream id, and uses a new connection next', async () => {
    const gate = new Gate()
    const server = await script([
      (request) => {
        request.session.goaway(0, request.stream.id!)
        void gate.opened.then(() => ok(request))
      },
      ok,
    ])
    const upstream = upstreamOf(server.url)
    const first = upstream.send(requestOf())
    await server.until(() => server.requests.length === 1)
    const second = upstream.send(requestOf())
    gate.open()
    expect(await Promise.all([first, second])).toMatchObject([{ kind: 'accepted' }, { kind: 'accepted' }])
    expect(server.requests).toHaveLength(2)
  })

  test.each([
    ['a reset connection', (server: GrpcScript) => server.sockets[0]!.resetAndDestroy()],
    ['RST_STREAM INTERNAL_ERROR', (server: GrpcScript) => server.requests[0]!.stream.close(2)],
  ])('%s after the request: answers unknown, and does not send again', async (_, play) => {
    const server: GrpcScript = await script([() => setImmediate(() => play(server)), ok])
    expect(await upstreamOf(server.url).send(requestOf())).toMatchObject({
      cause: 'unknown',
      httpStatus: 502,
      grpcCode: 14,
    })
    expect(server.requests).toHaveLength(1)
  })
})

test('sends gzip bodies unchanged', async () => {
  const server = await script(ok)
  const wire = gzipSync(Buffer.from('anything'))
  await upstreamOf(server.url).send(requestOf({ body: wire, contentEncoding: 'gzip' }))
  expect(gunzipSync(server.requests[0]!.framed.subarray(5)).toString()).toBe('anything')
})
