import { encodeRpcStatus } from '@penstock/otlp'
import { Gate } from '@penstock/testkit'
import { describe, expect, test } from 'vitest'
import { ok, playing, refused, request, setUp, upstreamAt } from './http-upstream.harness.ts'

describe('requests to upstream', () => {
  test('have path, media type, length and the client headers, without connection headers', async () => {
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
  ] as const)('for %s use the path prefix of the URL', async (signal, path) => {
    const server = await playing([ok])
    const { upstream } = await upstreamAt(`${server.url}/prefix/`)
    await upstream.send(request({ signal, encoding: 'json', body: Buffer.from('{}') }))
    expect(server.requests[0]).toMatchObject({ path, headers: { 'content-type': 'application/json' } })
    expect(upstream.name).toBe(`${server.url}/prefix`)
  })

  test('X-9: have the gateway credential instead of the client’s', async () => {
    const server = await playing([ok])
    const { upstream } = await upstreamAt(server.url, { config: { url: server.url, credential: { header: 'ours' } } })
    await upstream.send(request({ headers: ['authorization', 'Bearer theirs'] }))
    expect(server.requests[0]?.headers.authorization).toBe('Bearer ours')
  })

  test('X-9: have the client’s credential if it is passed through', async () => {
    const { server, upstream } = await setUp([ok], { passCredentialThrough: true })
    await upstream.send(request({ headers: ['authorization', 'Bearer theirs'] }))
    expect(server.requests[0]?.headers.authorization).toBe('Bearer theirs')
  })

  test('X-7: share a bounded number of connections', async () => {
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

  test('are refused as overload if too many are waiting', async () => {
    const { server, upstream, failures } = await setUp([{ play: 'silence' }], { limits: { inFlight: 1 } })
    let abort = () => {}
    const first = upstream.send(request({ onAbortable: (abortRequest) => (abort = abortRequest) }))
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

describe('successes', () => {
  test.each([
    ['no body', {}],
    ['protobuf 0A 00', { headers: { 'content-type': 'application/x-protobuf' }, body: Uint8Array.of(0x0a, 0) }],
    ['{}', { headers: { 'content-type': 'application/json' }, body: '{}' }],
    ['an empty partial success', { headers: { 'content-type': 'application/json' }, body: '{"partialSuccess":{}}' }],
    ['a text', { headers: { 'content-type': 'text/plain' }, body: 'thank you very much' }],
    ['202', { status: 202 }],
    ['204', { status: 204 }],
  ])('P-6: treats %s as full success', async (_, reply) => {
    const { upstream, metrics } = await setUp([{ ...ok, ...reply }])
    expect(await upstream.send(request())).toEqual({ kind: 'accepted', partialSuccess: undefined, body: undefined })
    expect(metrics.report().cells).toContainEqual({
      name: 'otelcol_exporter_sent_requests',
      labels: { upstream: upstream.name },
      value: 1,
    })
  })

  test('passes on a partial success with upstream’s bytes', async () => {
    const body = Uint8Array.of(0x0a, 0x06, 0x08, 0x02, 0x12, 0x02, 0x6e, 0x6f)
    const { upstream } = await setUp([{ ...ok, headers: { 'content-type': 'application/x-protobuf' }, body }])
    expect(await upstream.send(request())).toEqual({
      kind: 'accepted',
      partialSuccess: { rejected: 2n, message: 'no' },
      body: { encoding: 'protobuf', bytes: Buffer.from(body) },
    })
  })

  test('P-15: cuts off an endless reply, and uses its status', async () => {
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
  test('passes on a google.rpc.Status with its bytes', async () => {
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
  ])('P-14: replaces an error page with %i by a message that names the status', async (status, expected) => {
    const { upstream, alarms } = await setUp([{ play: 'reply', status, ...html }])
    const message = `the upstream answered HTTP ${status}`
    expect(await upstream.send(request())).toEqual(
      refused({ retryAfter: undefined, ...expected, message, status: undefined }),
    )
    expect(alarms).toEqual([])
  })

  test.each([401, 403])(
    '%i for the gateway credential: answers a retryable error and raises an alarm',
    async (status) => {
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
    },
  )

  test('passes on 401 if the credential is the client’s', async () => {
    const { upstream, alarms } = await setUp([{ play: 'reply', status: 401 }], { passCredentialThrough: true })
    expect(await upstream.send(request())).toMatchObject({ cause: 'credential', httpStatus: 401, grpcCode: 16 })
    expect(alarms).toEqual([])
  })

  test.each([404, 405])('%i for an OTLP path: answers a retryable error and raises an alarm', async (status) => {
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
  ])('P-13: uses Retry-After of HTTP %i: %s', async (status, value, retryAfter) => {
    const { upstream } = await setUp([{ play: 'reply', status, headers: { 'retry-after': value } }])
    expect(await upstream.send(request())).toMatchObject({ cause: 'throttled', httpStatus: status, retryAfter })
  })

  test('P-13: uses RetryInfo if there is no Retry-After header', async () => {
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
