import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { certificates } from '../../packages/gateway/src/connections/tls-certificates.harness.ts'
import { startSink } from './accepting-sink.ts'
import { type ClientKind, clientKinds, exportOnce, okCode } from './export-client.ts'
import { startGateway } from './running-gateway.ts'
import { exportBody } from './telemetry.ts'

const forbiddenCode: Readonly<Record<ClientKind, number>> = { 'HTTP protobuf': 403, 'HTTP JSON': 403, gRPC: 7 }

describe('T-9: a token in the query', () => {
  const post = (otlpUrl: string, query: string) =>
    fetch(`${otlpUrl}/v1/traces${query}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: exportBody({}, 'json'),
    })

  test('is accepted if configured and allowed for the token, and is not forwarded or logged', async () => {
    const sink = await startSink()
    const gateway = await startGateway({
      PENSTOCK_UPSTREAM: sink.url,
      PENSTOCK_CREDENTIAL_SOURCES: 'query',
      PENSTOCK_LOG_ACCEPTED: 'true',
    })
    await gateway.enforce(true)
    const beacon = await gateway.token({ allow_query: true })
    const plain = await gateway.token()

    expect((await post(gateway.otlpUrl, `?access_token=${beacon.token}`)).status).toBe(200)
    const refused = await post(gateway.otlpUrl, `?access_token=${plain.token}`)
    expect(refused.status).toBe(401)
    expect(await refused.json()).toEqual({
      code: 16,
      message: `The ingest token ${plain.id} may not be sent in the query of a URL; send it in the header Authorization.`,
    })
    const wrongSecret = `${plain.id}_${'x'.repeat(43)}`
    const wrong = await post(gateway.otlpUrl, `?access_token=psin_${wrongSecret}000000`)
    expect(await wrong.json()).toEqual({ code: 16, message: 'The ingest token is not valid.' })
    expect((await exportOnce(gateway.otlpPort, 'HTTP JSON', { token: plain.token })).code).toBe(200)

    expect(sink.requests.map(({ path }) => path)).toEqual(['/v1/traces', '/v1/traces'])
    const secrets = [beacon.token, plain.token, wrongSecret]
    for (const secret of secrets)
      expect(JSON.stringify(sink.requests.map(({ headers }) => headers))).not.toContain(secret)
    await gateway.stop()
    for (const secret of [...secrets, 'access_token']) expect(gateway.logs()).not.toContain(secret)
  })

  test('is not a credential by default', async () => {
    const gateway = await startGateway({ PENSTOCK_UPSTREAM: (await startSink()).url })
    await gateway.enforce(true)
    const { token } = await gateway.token({ allow_query: true })
    const refused = await post(gateway.otlpUrl, `?access_token=${token}`)
    expect(await refused.json()).toMatchObject({ message: expect.stringMatching(/^No ingest token\./) })
  })
})

describe('X-13: a token bound to client certificates', () => {
  /** Starts a gateway that knows two client certificates. */
  async function startWithCertificates(demanded: boolean) {
    const folder = mkdtempSync(join(tmpdir(), 'penstock-tls-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const file = (name: string, text: string) => {
      writeFileSync(join(folder, name), text)
      return join(folder, name)
    }
    const { one, two } = certificates
    const gateway = await startGateway({
      PENSTOCK_UPSTREAM: (await startSink()).url,
      PENSTOCK_TLS_CERT_FILE: file('tls.crt', one.cert),
      PENSTOCK_TLS_KEY_FILE: file('tls.key', one.key),
      ...(demanded && { PENSTOCK_TLS_CLIENT_CA_FILE: file('ca.crt', one.cert + two.cert) }),
    })
    await gateway.enforce(true)
    return gateway
  }
  const shows = (name: keyof typeof certificates) => ({ ca: certificates.one.cert, ...certificates[name] })

  test.each(clientKinds)('is accepted over %s with its own certificate, and with no other', async (kind) => {
    const gateway = await startWithCertificates(true)
    const bound = await gateway.token({ client_certificate_sans: ['DNS:Two.gateway.test', 'URI:spiffe://x/y'] })
    const unbound = await gateway.token()
    const exportWithCertificate = (token: string, name: keyof typeof certificates) =>
      exportOnce(gateway.otlpPort, kind, { token, tls: shows(name) })

    expect((await exportWithCertificate(bound.token, 'two')).code).toBe(okCode[kind])
    expect((await exportWithCertificate(unbound.token, 'one')).code).toBe(okCode[kind])
    expect(await exportWithCertificate(bound.token, 'one')).toMatchObject({
      code: forbiddenCode[kind],
      message: `The ingest token ${bound.id} may not be used with this client certificate.`,
    })
    const page = await (await fetch(`${gateway.managementUrl}/metrics`)).text()
    expect(page).toMatch(/^otelcol_ingestauth_decisions\{.*decision="reject".*reason="certificate".*\} 1$/m)
    expect(gateway.logs()).toMatch(new RegExp(`"reason":"certificate".*"token_id":"${bound.id}"`))
  })

  test('is accepted if the listener requires no certificate', async () => {
    const gateway = await startWithCertificates(false)
    const bound = await gateway.token({ client_certificate_sans: ['DNS:two.gateway.test'] })
    const answer = await exportOnce(gateway.otlpPort, 'HTTP protobuf', { token: bound.token, tls: shows('one') })
    expect(answer.code).toBe(200)
  })
})

describe('O-13: access log', () => {
  const linesOf = (logs: string) =>
    logs
      .split('\n')
      .filter((line) => line.includes('"ingest.'))
      .map((line) => JSON.parse(line) as Record<string, unknown>)

  test.each(clientKinds)(
    'a line of %s has a request id, and the upstream time if the request was forwarded',
    async (kind) => {
      const gateway = await startGateway({ PENSTOCK_UPSTREAM: (await startSink()).url, PENSTOCK_LOG_ACCEPTED: 'true' })
      await gateway.enforce(true)
      const { token, id } = await gateway.token()
      await exportOnce(gateway.otlpPort, kind, { token, headers: { 'x-request-id': 'build/17' } })
      await exportOnce(gateway.otlpPort, kind, { token })
      await exportOnce(gateway.otlpPort, kind, { headers: { 'x-request-id': 'build/18' } })
      await gateway.stop()

      const [named, unnamed, refused] = linesOf(gateway.logs())
      expect(named).toMatchObject({
        event: 'ingest.accepted',
        request_id: 'build/17',
        token_id: id,
        transport: kind === 'gRPC' ? 'grpc' : 'http',
        upstream_ms: expect.any(Number),
      })
      expect(unnamed).toMatchObject({ request_id: expect.stringMatching(/^[0-9a-z]{10}$/) })
      expect(refused).toMatchObject({ event: 'ingest.refused', reason: 'missing', request_id: 'build/18' })
      expect(refused).not.toHaveProperty('upstream_ms')
    },
  )
})
