import { mkdtempSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { deflateSync, gzipSync } from 'node:zlib'
import {
  contentTypes,
  decodeExportResponse,
  decodeRequest,
  decodeRpcStatus,
  type Encoding,
  encodeRequest,
  type Signal,
} from '@penstock/otlp'
import { jsonLog } from '@penstock/runtime'
import { ManualClock } from '@penstock/testkit'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { OneThreadStore } from '../one-thread-store.harness.ts'
import type { ObserveLimits } from '../store/observe-limits.ts'
import { counter, logBody, logRecord, metricBody, numberedTrace, toTraceId } from '../telemetry.harness.ts'
import { type ObserveServer, type ObserveServerOptions, observeServer } from './observe-server.ts'

const credential = 'only-for-the-gateway'
const bodies: Readonly<Record<Signal, Uint8Array>> = {
  traces: numberedTrace(1),
  metrics: metricBody('shop', counter(1, '3')),
  logs: logBody('shop', logRecord(1, 9, 'open')),
}

let directory: string
let store: OneThreadStore
let server: ObserveServer

const start = async (options: Partial<ObserveServerOptions> = {}, limits: Partial<ObserveLimits> = {}) => {
  store = await OneThreadStore.open({ file: join(directory, 'observe.db'), clock: new ManualClock(), limits })
  server = await observeServer(store, { credential, ...options })
}

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'penstock-observe-'))
  await start()
})
const end = async () => {
  await server.close()
  await store.close()
}
const restart = async (...options: Parameters<typeof start>) => {
  await end()
  await start(...options)
}
afterEach(async () => {
  await end()
  rmSync(directory, { recursive: true })
})

async function post(path: string, body: Uint8Array, headers: Record<string, string> = {}, method = 'POST') {
  const response = await fetch(server.url + path, {
    method,
    headers: { authorization: `Bearer ${credential}`, 'content-type': contentTypes.json, ...headers },
    body: method === 'GET' ? null : Buffer.from(body),
  })
  return { status: response.status, headers: response.headers, body: new Uint8Array(await response.arrayBuffer()) }
}

const inEncoding = (signal: Signal, encoding: Encoding) =>
  encoding === 'json' ? bodies[signal] : encodeRequest(signal, decodeRequest(signal, bodies[signal], 'json'), encoding)

const codings = { identity: (body: Uint8Array) => body, gzip: gzipSync, deflate: deflateSync }

const everyKind = (['traces', 'metrics', 'logs'] as const).flatMap((signal) =>
  (['protobuf', 'json'] as const).flatMap((encoding) =>
    (['identity', 'gzip', 'deflate'] as const).map((coding) => ({ signal, encoding, coding })),
  ),
)

test.each(everyKind)('accepts $signal in $encoding, $coding', async ({ signal, encoding, coding }) => {
  const answer = await post(`/v1/${signal}`, codings[coding](inEncoding(signal, encoding)), {
    'content-type': `${contentTypes[encoding]}; charset=utf-8`,
    'content-encoding': coding,
  })
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, contentTypes[encoding]])
  expect(decodeExportResponse(signal, answer.body, encoding)).toBeUndefined()
  expect((await store.queries.services()).map(({ name, signals }) => [name, signals])).toEqual([['shop', [signal]]])
})

const refused = [
  { why: 'no path of OTLP', path: '/v1/nothing', status: 404, code: 12 },
  { why: 'another method', method: 'GET', status: 405, code: 12, header: ['allow', 'POST'] },
  {
    why: 'no credential',
    headers: { authorization: '' },
    status: 401,
    code: 16,
    header: ['www-authenticate', 'Bearer realm="observe"'],
  },
  {
    why: 'another credential',
    headers: { authorization: `Bearer ${credential.toUpperCase()}` },
    status: 401,
    code: 16,
  },
  { why: 'another media type', headers: { 'content-type': 'text/plain' }, status: 415, code: 3 },
  {
    why: 'a coding we do not know',
    headers: { 'content-encoding': 'br' },
    status: 415,
    code: 3,
    header: ['accept-encoding', 'gzip, deflate, identity'],
  },
  { why: 'what is not gzip', headers: { 'content-encoding': 'gzip' }, status: 400, code: 3 },
  {
    why: 'data hidden behind zeros',
    headers: { 'content-encoding': 'gzip' },
    body: Buffer.concat([gzipSync(bodies.traces), Buffer.alloc(8), gzipSync(bodies.traces)]),
    status: 400,
    code: 3,
  },
  {
    why: 'data behind the end of a deflate stream',
    headers: { 'content-encoding': 'deflate' },
    body: Buffer.concat([deflateSync(bodies.traces), deflateSync(bodies.traces)]),
    status: 400,
    code: 3,
  },
  { why: 'what is not OTLP', body: Buffer.from('{"resourceSpans":7}'), status: 400, code: 3 },
]

test.each(refused)('refuses $why', async ({ path = '/v1/traces', body = bodies.traces, status, code, ...rest }) => {
  const answer = await post(path, body, rest.headers as Record<string, string> | undefined, rest.method)
  expect([answer.status, decodeRpcStatus(answer.body, 'json').code]).toEqual([status, code])
  if (rest.header) expect(answer.headers.get(rest.header[0]!)).toBe(rest.header[1])
  expect((await store.queries.status()).kept.spans).toBe(0)
})

test('refuses in the encoding of the request', async () => {
  const answer = await post('/v1/traces', Uint8Array.of(0x0a, 5), { 'content-type': contentTypes.protobuf })
  expect([answer.status, answer.headers.get('content-type')]).toEqual([400, contentTypes.protobuf])
  expect(decodeRpcStatus(answer.body, 'protobuf').code).toBe(3)
})

test('accepts profiles without storing them, and says so', async () => {
  const answer = await post('/v1development/profiles', Buffer.from('{}'))
  expect([answer.status, JSON.parse(Buffer.from(answer.body).toString())]).toEqual([
    200,
    { partialSuccess: { errorMessage: 'the embedded store does not keep profiles' } },
  ])
  expect(server.profilesDropped).toBe(1)
})

test('answers 413 to a body that is too large: declared, chunked, or inflated', async () => {
  const logged: Record<string, unknown>[] = []
  const log = jsonLog({ write: (line) => logged.push(JSON.parse(line)) }, () => 0)
  await restart({ log }, { maxBodyBytes: 10_000 })
  const large = Buffer.alloc(10_001, 0x20)
  const status = async (body: Uint8Array, headers?: Record<string, string>) => {
    const answer = await post('/v1/traces', body, headers)
    return [answer.status, decodeRpcStatus(answer.body, 'json').code]
  }
  expect(await status(large)).toEqual([413, 8])
  expect(await status(gzipSync(large), { 'content-encoding': 'gzip' })).toEqual([413, 8])
  expect(await status(deflateSync(Buffer.alloc(1_000_000)), { 'content-encoding': 'deflate' })).toEqual([413, 8])

  const chunked = request(`${server.url}/v1/traces`, {
    method: 'POST',
    headers: { authorization: `Bearer ${credential}`, 'content-type': contentTypes.json },
  })
  const answered = new Promise<[number | undefined, string]>((resolve, reject) => {
    chunked.on('error', reject)
    chunked.on('response', async (response) => resolve([response.statusCode, await text(response)]))
  })
  for (let part = 0; part < 20; part += 1) chunked.write(large)
  chunked.end()
  expect(await answered).toEqual([
    413,
    '{"code":8,"message":"The body is longer than 10000 bytes, as sent or inflated."}',
  ])
  // Four were refused, but there is only one log line per minute.
  expect(logged.filter(({ event }) => event === 'observe.body_too_large')).toEqual([
    expect.objectContaining({ reason: 'The body is longer than 10000 bytes, as sent or inflated.' }),
  ])
})

test('answers 503 with Retry-After when too much is in progress, and continues afterwards', async () => {
  await restart({ inFlightBytes: 50 })
  const answer = await post('/v1/traces', bodies.traces)
  expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '3'])
  expect(decodeRpcStatus(answer.body, 'json')).toMatchObject({ code: 14, retryDelayMs: 3_000 })
  expect((await post('/v1/traces', Buffer.from('{}'))).status).toBe(200)
})

test('an acknowledged request is visible to the next query', async () => {
  const numbers = Array.from({ length: 50 }, (_, number) => number)
  await Promise.all(
    numbers.map(async (number) => {
      expect((await post('/v1/traces', numberedTrace(number))).status).toBe(200)
      expect(await store.queries.trace(toTraceId(number), 1)).toBeDefined()
    }),
  )
})
