import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, request as httpRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { contentTypes, decodeRpcStatus } from '@penstock/otlp'
import { describe, expect, onTestFinished, test } from 'vitest'
import { startSink } from './accepting-sink.ts'
import { CountingSink } from './counting-sink.ts'
import { clientKinds, exportOnce, okCode } from './export-client.ts'
import { startGateway } from './running-gateway.ts'
import { exportBody } from './telemetry.ts'
import { until } from './until.ts'

const LIMIT = 1024 * 1024
const limited = async (env: Record<string, string> = {}) => {
  const sink = await startSink()
  const gateway = await startGateway({
    PENSTOCK_UPSTREAM: sink.url,
    PENSTOCK_MAX_BODY_BYTES: String(LIMIT),
    ...env,
  })
  const { token } = await gateway.token()
  await gateway.enforce(true)
  return { sink, gateway, token }
}
const tooLong = `The body is longer than ${LIMIT} bytes, as sent or inflated.`
/** A body that gzip compresses 1000:1 and that inflates to 64 times the limit. */
const bomb = Buffer.alloc(64 * LIMIT)
/** Returns a valid body with an item of `bytes` bytes. */
const bodyOf = (kind: string, bytes: number) =>
  exportBody({ items: ['x'.repeat(bytes)] }, kind === 'HTTP JSON' ? 'json' : 'protobuf')

describe.each(clientKinds)('%s', (kind) => {
  const refused = kind === 'gRPC' ? 8 : 413

  test('P-8, P-24: one byte above the limit is 413, or code 8 without a wait; a body at the limit is accepted', async () => {
    const { sink, gateway, token } = await limited()
    const overhead = bodyOf(kind, LIMIT / 2).length - LIMIT / 2
    const largest = bodyOf(kind, LIMIT - overhead)
    expect(largest.length).toBe(LIMIT)
    expect((await exportOnce(gateway.otlpPort, kind, { token, body: largest })).code).toBe(okCode[kind])
    const answer = await exportOnce(gateway.otlpPort, kind, { token, body: bodyOf(kind, LIMIT - overhead + 1) })
    expect([answer.code, answer.retryAfter]).toEqual([refused, undefined])
    if (kind !== 'gRPC') expect([answer.statusCode, answer.message]).toEqual([8, tooLong])
    expect(sink.requests).toHaveLength(1)
  })

  test('P-9: a gzip bomb without a token is 413, and upstream gets no complete request', async () => {
    const { sink, gateway } = await limited()
    await gateway.enforce(false)
    const answer = await exportOnce(gateway.otlpPort, kind, { gzip: true, body: bomb })
    expect([answer.code, sink.requests.length]).toEqual([refused, 0])
    const good = await exportOnce(gateway.otlpPort, kind, { gzip: true })
    expect(good.code).toBe(okCode[kind])
  })

  test('a gzip bomb with a valid token is forwarded unchanged, and upstream decides the answer', async () => {
    const sink = await startSink(() => ({ play: 'reply', status: 413 }))
    const { gateway, token } = await limited({ PENSTOCK_UPSTREAM: sink.url })
    const answer = await exportOnce(gateway.otlpPort, kind, { token, gzip: true, body: bomb })
    expect([answer.code, answer.message]).toEqual([refused, 'the upstream answered HTTP 413'])
    const seen = sink.requests.map(({ wireBytes, body, headers }) => [
      headers['content-encoding'],
      wireBytes < LIMIT,
      body.length,
    ])
    expect(seen).toEqual([['gzip', true, bomb.length]])
  })

  test('if the gateway reads the body, its inflated size is limited with a valid token too', async () => {
    const { sink, gateway, token } = await limited({ PENSTOCK_ATTRIBUTE_RESOURCES: 'true' })
    const answer = await exportOnce(gateway.otlpPort, kind, { token, gzip: true, body: bomb })
    expect([answer.code, sink.requests.length]).toEqual([refused, 0])
  })

  test('P-8, P-9: a streamed body that is too large only at its end never reaches upstream completely', async () => {
    await using sink = await CountingSink.start()
    const { gateway, token } = await limited({
      PENSTOCK_UPSTREAM: sink.url,
      PENSTOCK_INSPECT_INFLATED_SIZE: 'always',
    })
    const body = Buffer.concat([randomBytes(400 * 1024), Buffer.alloc(LIMIT)])
    for (let time = 0; time < 5; time += 1) {
      expect((await exportOnce(gateway.otlpPort, kind, { token, gzip: true, body })).code).toBe(refused)
    }
    await until('all requests are aborted', () => sink.aborted === sink.requests)
    expect(sink.headers).toEqual([])
  })
})

test('P-9: a bomb in 10,000 gzip members is 413 if all bodies are inspected', async () => {
  const { sink, gateway, token } = await limited({ PENSTOCK_INSPECT_INFLATED_SIZE: 'always' })
  const member = gzipSync(Buffer.alloc(200))
  const body = Buffer.concat(Array.from({ length: 10_000 }, () => member))
  const headers = { 'content-encoding': 'gzip' }
  const answer = await exportOnce(gateway.otlpPort, 'HTTP protobuf', { token, body, headers })
  expect([answer.code, answer.message, sink.requests.length]).toEqual([413, tooLong, 0])
})

describe('P-8: a body of unknown length', () => {
  async function chunked(port: number, token: string, bytes: number) {
    const request = httpRequest({
      host: '127.0.0.1',
      port,
      path: '/v1/traces',
      method: 'POST',
      agent: false,
      headers: { 'content-type': contentTypes.protobuf, authorization: `Bearer ${token}` },
    })
    const answered = once(request, 'response')
    const body = bodyOf('HTTP protobuf', bytes)
    for (let at = 0; at < body.length; at += 64 * 1024) request.write(body.subarray(at, at + 64 * 1024))
    request.end()
    const [response] = await answered
    const parts: Buffer[] = []
    for await (const part of response) parts.push(part)
    return { status: response.statusCode, body: Buffer.concat(parts) }
  }

  test('within the limit arrives completely', async () => {
    const { sink, gateway, token } = await limited()
    expect((await chunked(gateway.otlpPort, token, LIMIT - 1_000)).status).toBe(200)
    expect(bodyOf('HTTP protobuf', LIMIT - 1_000).equals(sink.requests[0]!.body)).toBe(true)
  })

  test('is aborted at the limit, and the part sent upstream is never completed', async () => {
    const seen = { begun: 0, whole: 0, broken: 0 }
    const upstream = createServer((request, response) => {
      seen.begun += 1
      request.on('error', () => {
        seen.broken += 1
      })
      request.resume().on('end', () => {
        seen.whole += 1
        response.end()
      })
    })
    await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => {
      upstream.closeAllConnections()
      upstream.close()
    })
    const { port } = upstream.address() as AddressInfo
    const { gateway, token } = await limited({ PENSTOCK_UPSTREAM: `http://127.0.0.1:${port}` })
    const { status, body } = await chunked(gateway.otlpPort, token, 3 * LIMIT)
    expect(status).toBe(413)
    expect(decodeRpcStatus(body, 'protobuf')).toEqual({ code: 8, message: tooLong, retryDelayMs: undefined })
    await until('the upstream request is aborted', () => seen.broken === seen.begun)
    expect(seen.whole).toBe(0)
    expect((await exportOnce(gateway.otlpPort, 'HTTP protobuf', { token })).code).toBe(200)
    expect(seen.whole).toBe(1)
  })
})

test('P-11: a client that is refused early receives the answer while it is still sending', async () => {
  const { sink, gateway } = await limited({ PENSTOCK_MAX_BODY_BYTES: String(64 * LIMIT) })
  const body = bodyOf('HTTP protobuf', 8 * LIMIT)
  for (const kind of ['HTTP protobuf', 'gRPC'] as const) {
    for (let time = 0; time < 5; time += 1) {
      const { code } = await exportOnce(gateway.otlpPort, kind, { body })
      expect([kind, code]).toEqual([kind, kind === 'gRPC' ? 16 : 401])
    }
  }
  expect(sink.requests).toHaveLength(0)
})
