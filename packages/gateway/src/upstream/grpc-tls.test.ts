import { createSecureServer, type SecureServerOptions } from 'node:http2'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { systemClock } from '@penstock/runtime'
import { ManualClock } from '@penstock/testkit'
import { expect, test } from 'vitest'
import { frame } from '../wire/grpc-wire.ts'
import { GrpcUpstream } from './grpc-upstream.ts'

/** Self-signed, for tests only: for localhost, upstream.test and 127.0.0.1, valid until 2126. */
const cert = `-----BEGIN CERTIFICATE-----
MIIBqTCCAVCgAwIBAgIUQcqr/lmZowBNhE3x45obWFCvkY0wCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyMTEyMzUxN1oYDzIxMjYxMDI4
MTIzNTE3WjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAASbAV0QZMFvmwSFF1GnhP1MvFzq7ZauZMs66NL/DaF3JCwsHfhQp3nV
ZC3hWX1OS0XJd0UJOV27gHNPMgwhUSmwo34wfDAdBgNVHQ4EFgQUozCuqoEVgWrC
1bth20jVm7pEL+QwHwYDVR0jBBgwFoAUozCuqoEVgWrC1bth20jVm7pEL+QwDwYD
VR0TAQH/BAUwAwEB/zApBgNVHREEIjAggglsb2NhbGhvc3SCDXVwc3RyZWFtLnRl
c3SHBH8AAAEwCgYIKoZIzj0EAwIDRwAwRAIgRY4ZvB7oxihRVJzPaQJ3aUweiYAu
XjPXArJQSm8dMfwCIBP34igvkWtOFgceN0U6P0iTbi8/39htMLJou4ggXXrb
-----END CERTIFICATE-----`
const key = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgNyQNG6iymBmRVDoP
sSDcWAcP7NLOIoTpCRog1MZ87zuhRANCAASbAV0QZMFvmwSFF1GnhP1MvFzq7Zau
ZMs66NL/DaF3JCwsHfhQp3nVZC3hWX1OS0XJd0UJOV27gHNPMgwhUSmw
-----END PRIVATE KEY-----`

const request = {
  signal: 'logs',
  encoding: 'protobuf',
  contentEncoding: '',
  headers: [],
  body: Buffer.from('body'),
  contentLength: 4,
} as const

async function send(host: string, ca: string | undefined, more: SecureServerOptions = {}): Promise<[object, string[]]> {
  const names: string[] = []
  const server = createSecureServer({ cert, key, ...more })
  server.on('sessionError', () => {})
  server.on('secureConnection', (socket) => names.push(String(socket.servername)))
  server.on('stream', (stream) => {
    stream.on('error', () => {})
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true })
    stream.once('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }))
    stream.resume()
    stream.end(frame(new Uint8Array(0), false))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = new URL(`grpcs://${host}:${(server.address() as AddressInfo).port}`)
  const upstream = new GrpcUpstream(
    { target: { url, ca: () => ca }, credential: () => undefined, resolve: () => Promise.resolve(['127.0.0.1']) },
    { clock: systemClock, random: () => 0, onAlarm: () => {} },
  )
  try {
    return [await upstream.send({ ...request, deadlineMs: performance.now() + 10_000 }), names]
  } finally {
    await upstream.close()
    await new Promise((resolve) => server.close(resolve))
  }
}

test.each([
  ['upstream.test', ['upstream.test']],
  ['127.0.0.1', ['false']],
])('X-13: connects to grpcs://%s with a configured certificate authority', async (host, names) => {
  const [answer, seen] = await send(host, cert)
  expect(answer).toEqual({ kind: 'accepted', partialSuccess: undefined, body: undefined })
  expect(seen).toEqual(names)
})

test.each([
  ['an unknown certificate authority', 'upstream.test', undefined, 'DEPTH_ZERO_SELF_SIGNED_CERT'],
  ['another name', 'other.test', cert, 'ERR_TLS_CERT_ALTNAME_INVALID'],
])('X-13: refuses %s', async (_, host, ca, code) => {
  const [answer] = await send(host, ca)
  expect(answer).toMatchObject({ cause: 'unreachable', grpcCode: 14, message: `upstream cannot be reached (${code})` })
})

test.each(['TLSv1.2', 'TLSv1.3'] as const)(
  'X-6, X-13: with %s, answers if upstream demands a client certificate, and can be closed',
  async (version) => {
    const demanding = {
      requestCert: true,
      rejectUnauthorized: true,
      ca: cert,
      minVersion: version,
      maxVersion: version,
    }
    const [answer] = await send('upstream.test', cert, demanding)
    expect(answer).toMatchObject({ cause: 'unreachable', grpcCode: 14 })
    expect((answer as { message: string }).message).toMatch(
      /^upstream cannot be reached \((ERR_SSL_[\w/]+|ECONNRESET)\)$/,
    )
  },
)

/** Lets time pass until the work is done. */
async function timePasses<T>(clock: ManualClock, work: Promise<T>): Promise<T> {
  let isDone = false
  const done = () => {
    isDone = true
  }
  work.then(done, done)
  while (!isDone) await clock.advance(100)
  return work
}

test('X-6: does not wait for an upstream that accepts connections and is silent', async () => {
  const sockets: Socket[] = []
  const silent = createServer((socket) => sockets.push(socket))
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  const { port } = silent.address() as AddressInfo
  const clock = new ManualClock()
  const upstreams = ['grpc', 'grpcs'].map(
    (scheme) =>
      new GrpcUpstream(
        { target: { url: new URL(`${scheme}://127.0.0.1:${port}`) }, credential: () => undefined },
        { clock, random: () => 0, onAlarm: () => {} },
      ),
  )
  const answers = upstreams.map((upstream) => upstream.send({ ...request, deadlineMs: clock.monotonicMs() + 10_000 }))
  for (const answer of await timePasses(clock, Promise.all(answers))) {
    expect(answer).toMatchObject({ cause: 'unreachable', message: 'upstream cannot be reached (ETIMEDOUT)' })
  }
  await Promise.all(upstreams.map((upstream) => upstream.close()))
  for (const socket of sockets) socket.destroy()
  await new Promise((resolve) => silent.close(resolve))
})

test('X-6: does not wait for a resolver that does not answer', async () => {
  const clock = new ManualClock()
  const upstream = new GrpcUpstream(
    {
      target: { url: new URL('grpc://upstream.test:4317') },
      credential: () => undefined,
      resolve: () => new Promise(() => {}),
    },
    { clock, random: () => 0, onAlarm: () => {} },
  )
  const answer = upstream.send({ ...request, deadlineMs: clock.monotonicMs() + 60_000 })
  expect(await timePasses(clock, answer)).toMatchObject({
    cause: 'unreachable',
    message: 'upstream cannot be reached (ETIMEDOUT)',
  })
  await upstream.close()
})
