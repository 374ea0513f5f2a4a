import { once } from 'node:events'
import { copyFileSync, renameSync } from 'node:fs'
import { connect as connectSession } from 'node:http2'
import { createServer } from 'node:https'
import { type AddressInfo, connect as connectTcp } from 'node:net'
import { connect, type TLSSocket } from 'node:tls'
import { expect, onTestFinished, test } from 'vitest'
import { startSink } from './accepting-sink.ts'
import { certificateAuthority } from './certificates.ts'
import { clientKinds, exportOnce, okCode } from './export-client.ts'
import { logged } from './metrics-page.ts'
import { startGateway } from './running-gateway.ts'
import { exportBody } from './telemetry.ts'
import { until } from './until.ts'

/** Returns the `CN` of the certificate that a new connection gets. */
async function shownName(port: number, ca: string): Promise<string> {
  const socket: TLSSocket = connect({ port, host: '127.0.0.1', servername: 'localhost', ca })
  await new Promise((resolve, reject) => socket.once('secureConnect', resolve).once('error', reject))
  const { CN } = socket.getPeerCertificate().subject
  socket.end().resume()
  await once(socket, 'close')
  return String(CN)
}

test.each(clientKinds)('P-1: every port accepts every protocol, with TLS and without (%s)', async (kind) => {
  const authority = certificateAuthority()
  const server = authority.issue('server')
  const sink = await startSink()
  const clear = await startGateway({ PENSTOCK_UPSTREAM: sink.url })
  const secure = await startGateway({
    PENSTOCK_UPSTREAM: sink.url,
    PENSTOCK_TLS_CERT_FILE: server.certFile,
    PENSTOCK_TLS_KEY_FILE: server.keyFile,
  })
  expect([clear.otlpPorts.length, secure.otlpPorts.length]).toEqual([2, 2])
  const codes: number[] = []
  for (const port of clear.otlpPorts) codes.push((await exportOnce(port, kind)).code)
  for (const port of secure.otlpPorts) codes.push((await exportOnce(port, kind, { tls: { ca: authority.cert } })).code)
  const ok = okCode[kind]
  expect(codes).toEqual([ok, ok, ok, ok])
})

test('P-1: accepts OTLP/HTTP over HTTP/2 with TLS and ALPN, and no clear text on a TLS port', async () => {
  const authority = certificateAuthority()
  const server = authority.issue('server')
  const sink = await startSink()
  const gateway = await startGateway({
    PENSTOCK_UPSTREAM: sink.url,
    PENSTOCK_TLS_CERT_FILE: server.certFile,
    PENSTOCK_TLS_KEY_FILE: server.keyFile,
  })
  const session = connectSession(`https://localhost:${gateway.otlpPort}`, { ca: authority.cert })
  const stream = session.request({ ':method': 'POST', ':path': '/v1/traces', 'content-type': 'application/x-protobuf' })
  const status = new Promise((resolve, reject) => {
    stream.once('response', (headers) => resolve(headers[':status']))
    stream.once('error', reject)
  })
  stream.end(exportBody({}, 'protobuf'))
  stream.resume()
  expect(await status).toBe(200)
  session.close()
  await expect(exportOnce(gateway.otlpPort, 'HTTP protobuf')).rejects.toThrow()
  expect(sink.requests).toHaveLength(1)
})

test.each(clientKinds)('X-13: a client certificate is required in addition to the token (%s)', async (kind) => {
  const authority = certificateAuthority()
  const clients = certificateAuthority('clients')
  const server = authority.issue('server')
  const client = clients.issue('client')
  const stranger = authority.issue('stranger')
  const sink = await startSink()
  const gateway = await startGateway({
    PENSTOCK_UPSTREAM: sink.url,
    PENSTOCK_TLS_CERT_FILE: server.certFile,
    PENSTOCK_TLS_KEY_FILE: server.keyFile,
    PENSTOCK_TLS_CLIENT_CA_FILE: clients.certFile,
  })
  const { token } = await gateway.token()
  await gateway.enforce(true)
  const ca = authority.cert
  const codeFor = async (options: object) => {
    const outcome = exportOnce(gateway.otlpPort, kind, { deadlineMs: 3_000, ...options })
    return outcome.then(({ code }) => code).catch(() => 'no connection')
  }
  const refusedByTls = kind === 'gRPC' ? 14 : 'no connection'
  expect([
    await codeFor({ token, tls: { ca, cert: client.cert, key: client.key } }),
    await codeFor({ tls: { ca, cert: client.cert, key: client.key } }),
    await codeFor({ token, tls: { ca } }),
    await codeFor({ token, tls: { ca, cert: stranger.cert, key: stranger.key } }),
  ]).toEqual([okCode[kind], kind === 'gRPC' ? 16 : 401, refusedByTls, refusedByTls])
})

test('X-13: new connections get a renewed certificate, open ones continue, and a broken file changes nothing', async () => {
  const authority = certificateAuthority()
  const [first, second] = [authority.issue('first'), authority.issue('second')]
  const served = authority.issue('served')
  copyFileSync(first.certFile, served.certFile)
  copyFileSync(first.keyFile, served.keyFile)
  const sink = await startSink()
  const gateway = await startGateway({
    PENSTOCK_UPSTREAM: sink.url,
    PENSTOCK_TLS_CERT_FILE: served.certFile,
    PENSTOCK_TLS_KEY_FILE: served.keyFile,
  })
  const session = connectSession(`https://localhost:${gateway.otlpPort}`, { ca: authority.cert })
  const send = () =>
    new Promise((resolve, reject) => {
      const head = { ':method': 'POST', ':path': '/v1/traces', 'content-type': 'application/x-protobuf' }
      const stream = session.request(head)
      stream.once('response', (headers) => resolve(headers[':status']))
      stream.once('error', reject)
      stream.end(exportBody({}, 'protobuf'))
      stream.resume()
    })
  expect([await send(), await shownName(gateway.otlpPort, authority.cert)]).toEqual([200, 'first'])

  // As Kubernetes and certbot do it: another file replaces the old one.
  renameSync(second.keyFile, served.keyFile)
  renameSync(second.certFile, served.certFile)
  await until(
    'the new certificate is used',
    async () => (await shownName(gateway.otlpPort, authority.cert)) === 'second',
  )
  expect(await send()).toBe(200)

  copyFileSync(first.keyFile, served.keyFile)
  await until('the mismatch is logged', () => logged(gateway, 'tls.unreadable').length > 0)
  expect([await send(), await shownName(gateway.otlpPort, authority.cert)]).toEqual([200, 'second'])
  session.close()
})

test('X-13: an HTTPS upstream is trusted only with a certificate of the configured authority', async () => {
  const authority = certificateAuthority()
  const other = certificateAuthority('other')
  const { cert, key } = authority.issue('upstream')
  let received = 0
  const upstream = createServer({ cert, key }, (request, response) => {
    received += 1
    request.resume().on('end', () => response.end())
  })
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    upstream.closeAllConnections()
    upstream.close()
  })
  const url = `https://localhost:${(upstream.address() as AddressInfo).port}`
  const trusting = await startGateway({ PENSTOCK_UPSTREAM: url, PENSTOCK_UPSTREAM_CA_FILE: authority.certFile })
  const distrusting = await startGateway({ PENSTOCK_UPSTREAM: url, PENSTOCK_UPSTREAM_CA_FILE: other.certFile })
  for (const kind of clientKinds) expect((await exportOnce(trusting.otlpPort, kind)).code).toBe(okCode[kind])
  expect(received).toBe(3)
  const answer = await exportOnce(distrusting.otlpPort, 'HTTP protobuf')
  expect([answer.code, answer.message, received]).toEqual([503, 'the upstream cannot be reached', 3])
})

test('X-13: a failed handshake leaves no connection open', async () => {
  const server = certificateAuthority().issue('server')
  const sink = await startSink()
  const gateway = await startGateway({
    PENSTOCK_UPSTREAM: sink.url,
    PENSTOCK_TLS_CERT_FILE: server.certFile,
    PENSTOCK_TLS_KEY_FILE: server.keyFile,
  })
  const socket = connectTcp(gateway.otlpPort, '127.0.0.1')
  let isClosed = false
  socket.once('close', () => {
    isClosed = true
  })
  socket.end('POST /v1/traces HTTP/1.1\r\n\r\n')
  socket.resume()
  await until('the gateway has closed it', () => isClosed)
  expect((await gateway.stop()).exitCode).toBe(0)
})
