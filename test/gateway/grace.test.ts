import { describe, expect, test } from 'vitest'
import { itemsOf, startSink } from './accepting-sink.ts'
import { clientKinds, exportOnce, okCode } from './export-client.ts'
import { metricLines } from './metrics-page.ts'
import { startGatewayAt } from './stepped-clock.ts'

const startMs = Date.parse('2026-11-21T07:03:00Z')

describe.each(clientKinds)('%s', (kind) => {
  const held = kind === 'gRPC' ? 14 : 503
  const refused = kind === 'gRPC' ? 16 : 401

  test('E-6: exports without a token get a retryable refusal during the grace period, and a final one after it', async () => {
    const sink = await startSink()
    const gateway = await startGatewayAt(startMs, { PENSTOCK_UPSTREAM: sink.url })
    const { token } = await gateway.token()
    await gateway.enforce(true, { grace_seconds: 60 })
    expect((await gateway.call('GET', '/state')).json).toMatchObject({
      mode: 'enforce',
      grace_until: '2026-11-21T07:04:00Z',
    })

    const first = await exportOnce(gateway.otlpPort, kind)
    expect([first.code, first.headers['www-authenticate']]).toEqual([held, undefined])
    expect(['2', '3', '4']).toContain(first.retryAfter)
    expect(first.message).toBe(
      'Ingest enforcement has just been enabled; this export will soon be rejected permanently. ' +
        'No ingest token. Send one in the header "Authorization: Bearer <token>".',
    )
    expect((await exportOnce(gateway.otlpPort, kind, { token })).code).toBe(okCode[kind])

    await gateway.advanceTo(startMs + 58_000)
    expect(['1', '2']).toContain((await exportOnce(gateway.otlpPort, kind)).retryAfter)
    await gateway.advanceTo(startMs + 59_999)
    expect(await exportOnce(gateway.otlpPort, kind)).toMatchObject({ code: held, retryAfter: '1' })
    await gateway.advanceTo(startMs + 60_000)
    expect(await exportOnce(gateway.otlpPort, kind)).toMatchObject({ code: refused, retryAfter: undefined })
    expect((await gateway.call('GET', '/state')).json).toMatchObject({ mode: 'enforce', grace_until: null })
    expect(sink.requests).toHaveLength(1)
    const transport = kind === 'gRPC' ? 'grpc' : 'http'
    expect(await metricLines(gateway, 'otelcol_ingestauth_decisions{decision="reject"')).toEqual([
      `otelcol_ingestauth_decisions{decision="reject",mode="enforce",reason="missing",signal="traces",transport="${transport}"} 4`,
    ])
  })

  test('E-6: if enforcement is disabled during the grace period, the retried exports arrive', async () => {
    const sink = await startSink()
    const gateway = await startGatewayAt(startMs, { PENSTOCK_UPSTREAM: sink.url })
    await gateway.enforce(true, { grace_seconds: 60 })
    const queued: string[] = []
    for (const item of ['a', 'b', 'c']) {
      if ((await exportOnce(gateway.otlpPort, kind, { items: [item] })).code === held) queued.push(item)
    }
    await gateway.advanceTo(startMs + 30_000)
    await gateway.enforce(false)
    expect(sink.requests).toHaveLength(0)
    for (const item of queued) {
      expect((await exportOnce(gateway.otlpPort, kind, { items: [item] })).code).toBe(okCode[kind])
    }
    expect(sink.requests.flatMap(itemsOf)).toEqual(['a', 'b', 'c'])
  })
})

test('E-6: without a grace period exports are refused immediately; it can be set, extended and ended under enforcement', async () => {
  const sink = await startSink()
  const gateway = await startGatewayAt(startMs, { PENSTOCK_UPSTREAM: sink.url })
  const codes: number[] = []
  for (const graceSeconds of [undefined, 5, 600, 0]) {
    await gateway.enforce(true, graceSeconds === undefined ? {} : { grace_seconds: graceSeconds })
    codes.push((await exportOnce(gateway.otlpPort, 'HTTP protobuf')).code)
  }
  expect(codes).toEqual([401, 503, 503, 401])
})
