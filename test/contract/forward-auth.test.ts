import { once } from 'node:events'
import { request } from 'node:http'
import { describe, expect, test } from 'vitest'
import { type RunningGateway, startGateway } from '../gateway/running-gateway.ts'

/** The checks that Envoy and Traefik send, copied from their sources. The proxies themselves do not run here. */
const checks = {
  // pkg/middlewares/auth/forward.go: GET, the client's headers without the hop-by-hop ones, then Traefik's own headers.
  traefik: {
    method: 'GET',
    path: '/forward-auth',
    headers: [
      ['Host', 'gate:8081'],
      ['User-Agent', 'OTel-OTLP-Exporter-Python/1.30.0'],
      ['Accept-Encoding', 'gzip'],
      ['Authorization', 'Bearer bad'],
      ['Content-Type', 'application/json'],
      ['X-Forwarded-For', '203.0.113.9'],
      ['X-Forwarded-Host', 'otlp.example'],
      ['X-Forwarded-Method', 'POST'],
      ['X-Forwarded-Port', '443'],
      ['X-Forwarded-Proto', 'https'],
      ['X-Forwarded-Uri', '/v1/metrics'],
    ],
  },
  // ext_authz_http_impl.cc: the client's method, its path after the prefix, the allowed headers, length 0.
  envoy: {
    method: 'POST',
    path: '/forward-auth/v1/metrics',
    headers: [
      ['host', 'otlp.example'],
      ['content-length', '0'],
      ['authorization', 'Bearer bad'],
      ['content-type', 'application/json'],
      ['x-forwarded-for', '203.0.113.9'],
      ['user-agent', 'OTel-OTLP-Exporter-Python/1.30.0'],
      ['x-envoy-internal', 'true'],
    ],
  },
} as const

interface SentCheck {
  readonly method: string
  readonly path: string
  readonly headers: readonly (readonly [string, string])[]
}

/** Starts a gateway that enforces tokens. Its upstream is not used, because the proxies forward the data. */
async function startEnforcingGateway(): Promise<RunningGateway> {
  const gateway = await startGateway({ PENSTOCK_UPSTREAM: 'http://127.0.0.1:9' })
  await gateway.token({ name: 'any' })
  await gateway.enforce(true)
  return gateway
}

const withToken = (check: SentCheck, token: string): SentCheck => ({
  ...check,
  headers: check.headers.map(([name, value]) =>
    name.toLowerCase() === 'authorization' ? [name, `Bearer ${token}`] : [name, value],
  ),
})

async function ask({ managementUrl }: RunningGateway, { method, path, headers }: SentCheck, body = '') {
  const flat = headers.flatMap(([name, value]) =>
    name === 'content-length' ? [name, String(body.length)] : [name, value],
  )
  const sent = request(managementUrl + path, { method, headers: flat as never, setHost: false }).end(body)
  const [response] = await once(sent, 'response')
  const text = (await response.toArray()).join('')
  return { status: response.statusCode as number, headers: response.headers as Record<string, string>, body: text }
}

describe.each(Object.entries(checks))('the check of %s', (_, check) => {
  test('is rejected like its client would be, in the encoding of the client', async () => {
    const gateway = await startEnforcingGateway()
    const { status, headers, body } = await ask(gateway, check)
    expect(status).toBe(401)
    expect(headers).toMatchObject({
      'www-authenticate':
        'Bearer realm="otlp", error="invalid_token", error_description="The ingest token is not valid."',
      'content-type': 'application/json',
      'cache-control': 'no-store',
      'x-ingest-capabilities': 'auth',
      'keep-alive': 'timeout=75',
    })
    expect(JSON.parse(body)).toMatchObject({ code: 16 })
    const refused = gateway
      .logs()
      .split('\n')
      .filter((line) => line.includes('"ingest.refused"'))
    expect(refused.map((line) => JSON.parse(line))).toMatchObject([
      { transport: 'forward-auth', signal: 'metrics', source: '203.0.113.9' },
    ])
  })

  test('is checked for the signal that its client sends', async () => {
    const gateway = await startEnforcingGateway()
    const metrics = await gateway.token({ name: 'metrics', signals: ['metrics'] })
    const traces = await gateway.token({ name: 'traces', signals: ['traces'] })
    const allowed = await ask(gateway, withToken(check, metrics.token))
    expect([allowed.status, allowed.headers['x-ingest-token-id']]).toEqual([200, metrics.id])
    expect((await ask(gateway, withToken(check, traces.token))).status).toBe(403)
  })
})

test('ignores the body of a check', async () => {
  expect((await ask(await startEnforcingGateway(), checks.envoy, 'x'.repeat(100_000))).status).toBe(401)
})

test('accepts checks with any method', async () => {
  const gateway = await startEnforcingGateway()
  for (const method of ['GET', 'HEAD', 'PUT', 'PROPFIND']) {
    expect((await ask(gateway, { ...checks.traefik, method })).status).toBe(401)
  }
})
