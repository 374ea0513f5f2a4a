import { expect, test } from 'vitest'
import { startSink } from './accepting-sink.ts'
import { exportOnce } from './export-client.ts'
import { type RunningGateway, startGateway } from './running-gateway.ts'

const shop = 'https://shop.example.com'
const env = { PENSTOCK_ALLOWED_ORIGINS: 'https://*.example.com,http://localhost:3000' }

const open = async (more: Record<string, string> = {}) => {
  const sink = await startSink(() => ({
    play: 'reply',
    status: 200,
    headers: { 'access-control-allow-origin': '*', 'access-control-allow-credentials': 'true' },
  }))
  return { sink, gateway: await startGateway({ PENSTOCK_UPSTREAM: sink.url, ...env, ...more }) }
}

async function preflight({ otlpUrl }: RunningGateway, origin: string) {
  const response = await fetch(`${otlpUrl}/v1/traces`, {
    method: 'OPTIONS',
    headers: {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization,content-type',
    },
  })
  const names = ['allow-origin', 'allow-methods', 'allow-headers', 'max-age']
  return [response.status, ...names.map((name) => response.headers.get(`access-control-${name}`))]
}

test('P-16: preflights are answered without a token, and other origins get no CORS headers', async () => {
  const { sink, gateway } = await open()
  await gateway.enforce(true)
  expect(await preflight(gateway, shop)).toEqual([204, shop, 'POST', 'authorization,content-type', '7200'])
  expect((await preflight(gateway, 'http://localhost:3000'))[1]).toBe('http://localhost:3000')
  expect(await preflight(gateway, 'https://example.com.evil.test')).toEqual([204, null, null, null, null])
  expect(await preflight(gateway, 'http://localhost:3001')).toEqual([204, null, null, null, null])
  expect(sink.requests).toHaveLength(0)
})

test('P-16: a page can read every reply: successes, refusals and replies of the upstream', async () => {
  const { gateway } = await open({ PENSTOCK_MAX_BODY_BYTES: '1024' })
  const { token } = await gateway.token({ limits: { logs: { day: { requests: 1 } } } })
  await gateway.enforce(true)
  const headers = { origin: shop }
  const body = Buffer.alloc(2_000)
  const replies = [
    await exportOnce(gateway.otlpPort, 'HTTP JSON', { token, headers }),
    await exportOnce(gateway.otlpPort, 'HTTP JSON', { headers }),
    await exportOnce(gateway.otlpPort, 'HTTP JSON', { token, headers, body }),
    await exportOnce(gateway.otlpPort, 'HTTP JSON', { token, headers, signal: 'logs' }),
    await exportOnce(gateway.otlpPort, 'HTTP JSON', { token, headers, signal: 'logs' }),
    await exportOnce(gateway.otlpPort, 'HTTP JSON', { token, headers: { ...headers, 'content-type': 'text/plain' } }),
  ]
  expect(replies.map(({ code }) => code)).toEqual([200, 401, 413, 200, 429, 415])
  for (const reply of replies) {
    expect([reply.code, reply.headers['access-control-allow-origin'], reply.headers.vary]).toEqual([
      reply.code,
      shop,
      'Origin',
    ])
    expect(reply.headers['access-control-expose-headers']).toBe('Retry-After, WWW-Authenticate')
    expect(reply.headers['access-control-allow-credentials']).toBeUndefined()
  }
  const strange = await exportOnce(gateway.otlpPort, 'HTTP JSON', { token, headers: { origin: 'https://evil.test' } })
  expect([strange.headers['access-control-allow-origin'], strange.headers.vary]).toEqual([undefined, 'Origin'])
})

test('P-16: a page can also read the reply for an unknown path or method', async () => {
  const { gateway } = await open()
  const lost = await fetch(`${gateway.otlpUrl}/v1/nothing`, { method: 'POST', headers: { origin: shop } })
  const got = await fetch(`${gateway.otlpUrl}/v1/traces`, { headers: { origin: shop } })
  expect([lost, got].map(({ status, headers }) => [status, headers.get('access-control-allow-origin')])).toEqual([
    [404, shop],
    [405, shop],
  ])
})

test.each(['HTTP JSON', 'HTTP protobuf', 'gRPC'] as const)(
  'P-16: a token may be restricted to some origins (%s)',
  async (kind) => {
    const { sink, gateway } = await open()
    const { id, token } = await gateway.token({ allowed_origins: [shop] })
    await gateway.enforce(true)
    const from = async (origin: string | undefined) => {
      const { code, message } = await exportOnce(gateway.otlpPort, kind, { token, headers: origin ? { origin } : {} })
      return [code, message]
    }
    const forbidden = [kind === 'gRPC' ? 7 : 403, `The ingest token ${id} may not be used from this origin.`]
    expect(await from(shop)).toEqual([kind === 'gRPC' ? 0 : 200, ''])
    expect(await from('https://other.example.com')).toEqual(forbidden)
    const before = sink.requests.length
    await from(undefined)
    expect([0, 1]).toContain(sink.requests.length - before)
  },
)

test('without allowed origins no reply has CORS headers', async () => {
  const sink = await startSink()
  const gateway = await startGateway({ PENSTOCK_UPSTREAM: sink.url })
  const { headers } = await exportOnce(gateway.otlpPort, 'HTTP JSON', { headers: { origin: shop } })
  expect([headers['access-control-allow-origin'], headers.vary]).toEqual([undefined, undefined])
})
