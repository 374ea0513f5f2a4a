import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ManualClock } from '@penstock/testkit'
import { afterEach, expect, test } from 'vitest'
import { openHttpUpstream } from './http-upstream.ts'

/** Self-signed, for tests only: for upstream.test, valid until 2126. */
const cert = `-----BEGIN CERTIFICATE-----
MIIBoDCCAUegAwIBAgIUGFYdV8roDVFmN/GfTK+nSJnVT8kwCgYIKoZIzj0EAwIw
GDEWMBQGA1UEAwwNdXBzdHJlYW0udGVzdDAgFw0yNjExMjExMjM5MTBaGA8yMTI2
MTAyODEyMzkxMFowGDEWMBQGA1UEAwwNdXBzdHJlYW0udGVzdDBZMBMGByqGSM49
AgEGCCqGSM49AwEHA0IABLQ5yAb6F6YST96+WfWfpodgLa7bA3J7TBhm5thqTUzd
yyfs/0bJvxTJCBmFL9+51OGa+y9wEg2dcnp05fC0r7ajbTBrMB0GA1UdDgQWBBRH
jPQn3+sQp2gzPUs8xVV4bWOUCjAfBgNVHSMEGDAWgBRHjPQn3+sQp2gzPUs8xVV4
bWOUCjAPBgNVHRMBAf8EBTADAQH/MBgGA1UdEQQRMA+CDXVwc3RyZWFtLnRlc3Qw
CgYIKoZIzj0EAwIDRwAwRAIgVEI7Gb24o7UVhnx845fIrFoLdYUOQD8YlC+7Boek
/GUCIDriYAY0Wd2CS9777Fllbg/ppY+gMhQvQ0PozYIrTD91
-----END CERTIFICATE-----`
const key = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgOIbpFSLZjr/DHgD0
KszCqxV2V66P96/KCBbH0RxiwtOhRANCAAS0OcgG+hemEk/evln1n6aHYC2u2wNy
e0wYZubYak1M3csn7P9Gyb8UyQgZhS/fudThmvsvcBINnXJ6dOXwtK+2
-----END PRIVATE KEY-----`
/** A certificate authority that has not signed the server's certificate. */
const otherAuthority = `-----BEGIN CERTIFICATE-----
MIIBfTCCASOgAwIBAgIUS0OGqFcmZ6W0lZpTjWlbYkxDa7owCgYIKoZIzj0EAwIw
EzERMA8GA1UEAwwIc3RyYW5nZXIwIBcNMjYxMTIxMTIzOTEwWhgPMjEyNjEwMjgx
MjM5MTBaMBMxETAPBgNVBAMMCHN0cmFuZ2VyMFkwEwYHKoZIzj0CAQYIKoZIzj0D
AQcDQgAExi7Etsn7DLht+N/0KAIqfQh6o53XrB1eMT0ybmiYfiMxUx5OjaCDOdi5
s+iZqnBKACFMSbe094KUEoWe/mjUoKNTMFEwHQYDVR0OBBYEFP7WwwWc900j7sMr
hWxXEoqxdKbPMB8GA1UdIwQYMBaAFP7WwwWc900j7sMrhWxXEoqxdKbPMA8GA1Ud
EwEB/wQFMAMBAf8wCgYIKoZIzj0EAwIDSAAwRQIhAOU16BJRpnM7eboRN+BbINbL
h6qLixK+xJ9yzfJ3C73kAiB600AUo3jvYO2ESz0GXZgFrmCYBOxxy4OZ4TTqh2f+
Bg==
-----END CERTIFICATE-----`

const cleanups: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

async function setUp(host: string, authority: string | undefined) {
  const names: string[] = []
  const server = createServer({ cert, key }, (message, response) => {
    message.resume()
    response.end()
  })
  server.on('secureConnection', (socket) => names.push(`${socket.servername}`))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  cleanups.push(async () => server.close())
  const folder = await mkdtemp(join(tmpdir(), 'authority-'))
  cleanups.push(() => rm(folder, { recursive: true }))
  const caFile = join(folder, 'ca.pem')
  if (authority !== undefined) await writeFile(caFile, authority)
  const clock = new ManualClock()
  const upstream = await openHttpUpstream({
    config: {
      url: `https://${host}:${(server.address() as AddressInfo).port}`,
      ...(authority !== undefined && { caFile }),
    },
    passCredentialThrough: false,
    clock,
    random: () => 0,
    onAlarm: () => {},
    resolve: async () => ['127.0.0.1'],
  })
  cleanups.push(() => upstream.close())
  const send = () =>
    upstream.send({
      signal: 'traces',
      encoding: 'protobuf',
      contentEncoding: '',
      headers: [],
      body: Uint8Array.of(),
      contentLength: 0,
      deadlineMs: clock.monotonicMs() + 20_000,
    })
  return { names, caFile, clock, send }
}

test('X-13: trusts a configured authority, and sends the name of the URL in the handshake', async () => {
  const { names, send } = await setUp('upstream.test', cert)
  expect(await send()).toEqual({ kind: 'accepted', partialSuccess: undefined, body: undefined })
  expect(names).toEqual(['upstream.test'])
})

test.each([
  ['an unknown certificate authority', 'upstream.test', undefined],
  ['another certificate authority', 'upstream.test', otherAuthority],
  ['another name', 'other.test', cert],
])('X-13: refuses %s', async (_, host, authority) => {
  const { send } = await setUp(host, authority)
  expect(await send()).toMatchObject({ cause: 'unreachable', httpStatus: 503 })
})

test('X-13: uses a changed authority file for new connections', async () => {
  const { caFile, clock, send } = await setUp('upstream.test', otherAuthority)
  expect(await send()).toMatchObject({ cause: 'unreachable' })
  await writeFile(caFile, cert)
  await clock.advance(1_000)
  expect(await send()).toMatchObject({ kind: 'accepted' })
})

test('rejects at once if the authority file does not exist', async () => {
  const config = { url: 'https://upstream.test', caFile: '/nowhere/ca.pem' }
  const opening = openHttpUpstream({
    config,
    passCredentialThrough: false,
    clock: new ManualClock(),
    random: () => 0,
    onAlarm: () => {},
  })
  await expect(opening).rejects.toMatchObject({ code: 'ENOENT' })
})
