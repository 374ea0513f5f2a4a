import { once } from 'node:events'
import { type ClientRequest, createServer, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { serveRoutes, unguarded } from '@penstock/http'
import { silentLog } from '@penstock/runtime'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ForwardAuth, forwardAuth } from '../../packages/gateway/src/admin/forward-auth.ts'
import { loopbackProxies } from '../../packages/gateway/src/admin/forward-auth-proxies.ts'
import { forwardAuthRoute } from '../../packages/gateway/src/admin/forward-auth-route.ts'
import { forwardAuthServer } from '../../packages/gateway/src/admin/forward-auth-server.ts'
import type { Presented } from '../../packages/gateway/src/ingest/admission.ts'

/** The checks that Envoy and Traefik send, to the letter of their sources; the proxies themselves do not run here. */
const checks = {
  // pkg/middlewares/auth/forward.go: GET, the client's headers without the hop-by-hop ones, then its own.
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
  // ext_authz_http_impl.cc: the client's method, its path behind the prefix, the headers that are allowed, length 0.
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

const presented: Presented[] = []
const judge: ForwardAuth = forwardAuth({
  admit: (shown) => {
    presented.push(shown)
    const refusal = { kind: 'unauthenticated', message: 'Not valid.', challenge: 'Bearer realm="otlp"' } as const
    return { admitted: false, refusal }
  },
  mode: () => 'enforce',
  proxies: loopbackProxies,
  credentialSources: [],
  extraPaths: {},
  tenantHeader: false,
  nowMs: () => 0,
  log: silentLog,
})

const fronts: Record<string, () => Server> = {
  'a socket of its own': () => forwardAuthServer(judge),
  'the management listener': () =>
    createServer(
      serveRoutes(unguarded([forwardAuthRoute(judge)]), {
        renderError: () => ({ status: 500 }),
        headers: { 'cache-control': 'no-store' },
        log: silentLog,
      }),
    ),
}

describe.each(Object.entries(fronts))('forward-auth on %s', (_, make) => {
  let server: Server

  beforeAll(async () => {
    server = make()
    await once(server.listen(0, '127.0.0.1'), 'listening')
  })
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })

  const ask = async ({ method, path, headers }: (typeof checks)['traefik' | 'envoy'], body = '') => {
    const { port } = server.address() as AddressInfo
    const flat = headers.flatMap(([name, value]) =>
      name === 'content-length' ? [name, String(body.length)] : [name, value],
    )
    return answerOf(request({ port, host: '127.0.0.1', method, path, headers: flat as never, setHost: false }), body)
  }

  test.each(Object.entries(checks))('the check of %s is judged for what its client wanted', async (_, check) => {
    const { status, headers, body } = await ask(check)
    expect(status).toBe(401)
    expect(headers).toMatchObject({
      'www-authenticate': 'Bearer realm="otlp"',
      'content-type': 'application/json',
      'cache-control': 'no-store',
      'x-ingest-capabilities': 'auth',
    })
    expect(JSON.parse(body)).toEqual({ code: 16, message: 'Not valid.' })
    expect(presented.at(-1)).toEqual({
      transport: 'forward-auth',
      signal: 'metrics',
      credential: { kind: 'bearer', value: 'bad', from: 'header' },
      origin: undefined,
      source: '203.0.113.9',
      userAgent: 'OTel-OTLP-Exporter-Python/1.30.0',
      declaredBytes: undefined,
    })
  })

  test('a body that came along is ignored', async () => {
    expect((await ask(checks.envoy, 'x'.repeat(100_000))).status).toBe(401)
  })

  test.each(['GET', 'HEAD', 'PUT', 'PROPFIND'])('%s is a check like any other', async (method) => {
    const { status } = await ask({ ...checks.traefik, method } as unknown as (typeof checks)['traefik'])
    expect(status).toBe(401)
  })
})

async function answerOf(sent: ClientRequest, body: string) {
  sent.end(body)
  const [response] = await once(sent, 'response')
  let text = ''
  for await (const part of response) text += part
  return { status: response.statusCode as number, headers: response.headers as Record<string, string>, body: text }
}
