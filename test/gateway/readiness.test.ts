import { expect, test } from 'vitest'
import { startSink } from './accepting-sink.ts'
import { exportOnce } from './export-client.ts'
import { startGateway } from './running-gateway.ts'
import { startGatewayAt } from './stepped-clock.ts'
import { until } from './until.ts'

const startMs = Date.parse('2026-11-21T07:03:00Z')
const DAY_MS = 86_400_000

interface Report {
  readonly blockers: unknown
  readonly clients: readonly { readonly service_name: string | null }[]
  readonly unused_tokens: readonly unknown[]
  readonly expiring_tokens: unknown
}

test('the report lists the clients that would be refused, with their service names', async () => {
  const sink = await startSink()
  const gateway = await startGateway({ PENSTOCK_UPSTREAM: sink.url })
  const { id, token } = await gateway.token({ signals: ['traces'] })
  await gateway.enforce(false, { mode: 'report' })
  const http = { 'user-agent': 'OTel-OTLP-Exporter-Python/1.20 (linux)' }
  await exportOnce(gateway.otlpPort, 'HTTP protobuf', { service: 'cart', headers: http })
  await exportOnce(gateway.otlpPort, 'HTTP protobuf', { service: 'cart', headers: http })
  await exportOnce(gateway.otlpPort, 'HTTP JSON', {
    service: 'web',
    signal: 'logs',
    headers: { 'user-agent': 'web/1' },
  })
  await exportOnce(gateway.otlpPort, 'HTTP protobuf', { service: 'mail', signal: 'metrics', gzip: true })
  await exportOnce(gateway.otlpPort, 'HTTP JSON', { service: 'packed', headers: { 'user-agent': 'j/2' }, gzip: true })
  await exportOnce(gateway.otlpPort, 'gRPC', { service: 'stock' })
  await exportOnce(gateway.otlpPort, 'gRPC', { service: 'stock-packed', signal: 'logs', gzip: true })
  await exportOnce(gateway.otlpPort, 'HTTP protobuf', { service: 'wrong-signal', signal: 'logs', token })
  await exportOnce(gateway.otlpPort, 'HTTP protobuf', { service: 'good', token })

  const report = await until('all bodies have been sampled', async () => {
    const { json } = await gateway.call<Report>('GET', '/readiness')
    return json.clients.every(({ service_name }) => service_name !== null) && json
  })
  expect(report).toMatchObject({ ready: false, window_seconds: 86_400, requests: 9, would_reject: 8 })
  expect(report.blockers).toEqual([
    { code: 'would_reject', message: 'Requests that would have been refused in the window: 8.' },
  ])
  const clients = report.clients.map(
    ({ first_seen: _first, last_seen: _last, service_names: names, ...client }: Record<string, unknown>) => {
      // Each client of this test sends for one service.
      expect(names).toEqual([client.service_name])
      return client
    },
  )
  const local = { network: '127.0.0.0/24', token_id: null, reason: 'missing', count: 1 }
  const grpc = { ...local, user_agent: 'grpc-node-js', transport: 'grpc' }
  const python = 'OTel-OTLP-Exporter-Python'
  expect(clients[0]).toEqual({
    ...local,
    ...{ user_agent: python, signal: 'traces', transport: 'http', service_name: 'cart', count: 2 },
  })
  expect(new Set(clients.slice(1))).toEqual(
    new Set([
      { ...local, user_agent: 'web', signal: 'logs', transport: 'http', service_name: 'web' },
      { ...local, user_agent: '', signal: 'metrics', transport: 'http', service_name: 'mail' },
      { ...local, user_agent: 'j', signal: 'traces', transport: 'http', service_name: 'packed' },
      { ...grpc, signal: 'traces', service_name: 'stock' },
      { ...grpc, signal: 'logs', service_name: 'stock-packed' },
      {
        ...local,
        ...{ user_agent: '', signal: 'logs', transport: 'http', service_name: 'wrong-signal' },
        ...{ reason: 'signal', token_id: id },
      },
    ]),
  )
})

test('require_ready: enables enforcement only if no client would be refused and a token lasts', async () => {
  const sink = await startSink()
  const gateway = await startGatewayAt(startMs, { PENSTOCK_UPSTREAM: sink.url })
  const demand = () =>
    gateway.call<{ error: { code: string; details: { blockers: { code: string }[] } } }>(
      'PUT',
      '/state?require_ready=true',
      { enabled: true },
    )
  const blockers = async () => {
    const { status, json } = await demand()
    expect([status, json.error.code]).toEqual([409, 'not_ready'])
    return json.error.details.blockers.map(({ code }) => code)
  }

  expect(await blockers()).toEqual(['no_valid_token'])
  const short = await gateway.token({ expires_at: '2026-11-28T07:02:59Z' })
  expect(await blockers()).toEqual(['valid_tokens_end_soon'])
  await gateway.token({ name: 'lasting' })
  await exportOnce(gateway.otlpPort, 'HTTP protobuf')
  expect(await blockers()).toEqual(['would_reject'])
  expect((await gateway.call('GET', '/state')).json).toMatchObject({ enabled: false })

  await gateway.advanceTo(startMs + 3_600_000 + 60_000)
  const { json: ofAnHour } = await gateway.call('GET', '/readiness?window=1h')
  expect(ofAnHour).toMatchObject({ ready: true, window_seconds: 3_600, requests: 0, would_reject: 0, clients: [] })
  expect((await gateway.call('GET', '/readiness')).json).toMatchObject({ ready: false, would_reject: 1 })

  await gateway.advanceTo(startMs + DAY_MS + 60_000)
  await exportOnce(gateway.otlpPort, 'HTTP protobuf', { token: short.token })
  expect(await demand()).toMatchObject({ status: 200, json: { enabled: true, mode: 'enforce', warnings: [] } })
})

test('the report lists unused and expiring tokens', async () => {
  const sink = await startSink()
  const gateway = await startGatewayAt(startMs, { PENSTOCK_UPSTREAM: sink.url })
  const soon = await gateway.token({ name: 'soon', expires_at: '2026-11-25T00:00:00Z' })
  const sooner = await gateway.token({ name: 'sooner', expires_at: '2026-11-24T00:00:00Z' })
  await gateway.token({ name: 'idle' })
  const lasting = await gateway.token({ name: 'lasting' })
  for (const { token } of [soon, sooner, lasting]) await exportOnce(gateway.otlpPort, 'HTTP protobuf', { token })
  await gateway.advanceTo(startMs + 10_000)

  const { json: report } = await until('the use is stored', async () => {
    const answer = await gateway.call<Report>('GET', '/readiness')
    return answer.json.unused_tokens.length === 1 && answer
  })
  expect(report).toMatchObject({ ready: true, requests: 3, would_reject: 0, blockers: [] })
  expect(report.unused_tokens).toEqual([{ id: expect.any(String), name: 'idle', last_used_at: null }])
  expect(report.expiring_tokens).toEqual([
    { id: sooner.id, name: 'sooner', expires_at: '2026-11-24T00:00:00Z' },
    { id: soon.id, name: 'soon', expires_at: '2026-11-25T00:00:00Z' },
  ])
})
