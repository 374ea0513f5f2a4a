import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { startSink } from './accepting-sink.ts'
import { type ClientKind, clientKinds, type Export, exportOnce, okCode } from './export-client.ts'
import { type GatewayInTime, startGatewayAt } from './leaping-clock.ts'
import { metricLines } from './metrics-page.ts'
import { exportBody } from './telemetry.ts'
import { until } from './until.ts'

const startMs = Date.parse('2026-11-21T07:03:00Z')

const start = async (): Promise<GatewayInTime> => {
  const sink = await startSink()
  return startGatewayAt(startMs, { PENSTOCK_UPSTREAM: sink.url })
}

/** Code and wait of some exports one after another. */
async function tell(gateway: GatewayInTime, kind: ClientKind, given: Export, times = 1) {
  const told: [number, string | undefined][] = []
  for (let time = 0; time < times; time += 1) {
    const { code, retryAfter } = await exportOnce(gateway.otlpPort, kind, given)
    told.push([code, retryAfter])
  }
  return told
}

describe.each(clientKinds)('%s', (kind) => {
  const ok = [okCode[kind], undefined]
  const over = kind === 'gRPC' ? 14 : 429

  test('X-16: requests a second, and the true wait', async () => {
    const gateway = await start()
    const { id, token } = await gateway.token({ limits: { all: { second: { requests: 2 } } } })
    expect(await tell(gateway, kind, { token }, 3)).toEqual([ok, ok, [over, '1']])
    const { message } = await exportOnce(gateway.otlpPort, kind, { token })
    expect(message).toBe(`The ingest token ${id} is over its limit all.second.requests.`)
    await gateway.leapTo(startMs + 499)
    expect(await tell(gateway, kind, { token })).toEqual([[over, '1']])
    await gateway.leapTo(startMs + 500)
    expect(await tell(gateway, kind, { token }, 2)).toEqual([ok, [over, '1']])
    await gateway.leapTo(startMs + 10_000)
    expect(await tell(gateway, kind, { token }, 3)).toEqual([ok, ok, [over, '1']])
  })

  test('X-16: bytes a second; a body above the whole second goes, and is paid off', async () => {
    const gateway = await start()
    const { token } = await gateway.token({ limits: { all: { second: { bytes: 100 } } } })
    const given: Export = {
      token,
      body: exportBody({ items: ['x'.repeat(500)] }, kind === 'HTTP JSON' ? 'json' : 'protobuf'),
    }
    const bytes = given.body!.length
    expect(await tell(gateway, kind, given)).toEqual([ok])
    // A body this long goes when the bucket is full; one of a length not known before, as in gRPC, when a byte is free.
    const waitSeconds = (bytes - (kind === 'gRPC' ? 99 : 0)) / 100
    const [[code, wait]] = (await tell(gateway, kind, given)) as [[number, string]]
    expect([code, wait]).toEqual([over, String(Math.ceil(waitSeconds))])
    await gateway.leapTo(startMs + Number(wait) * 1_000)
    expect(await tell(gateway, kind, given)).toEqual([ok])
  })

  test('X-16: the daily quota starts again at 00:00 UTC, and the wait is an hour at most', async () => {
    const gateway = await start()
    const { token } = await gateway.token({ limits: { all: { day: { requests: 2 } } } })
    expect(await tell(gateway, kind, { token }, 3)).toEqual([ok, ok, [over, '3600']])
    await gateway.leapTo(Date.parse('2026-11-21T23:59:00Z'))
    expect(await tell(gateway, kind, { token })).toEqual([[over, '60']])
    await gateway.leapTo(Date.parse('2026-11-22T00:00:00Z'))
    expect(await tell(gateway, kind, { token }, 3)).toEqual([ok, ok, [over, '3600']])
  })
})

test('X-16: limits of one signal leave the others alone; those of all count all', async () => {
  const gateway = await start()
  const limits = { logs: { day: { requests: 1 } }, all: { day: { requests: 3 } } }
  const { id, token } = await gateway.token({ limits })
  const codes: number[] = []
  const messages: string[] = []
  for (const signal of ['logs', 'logs', 'traces', 'metrics', 'traces'] as const) {
    const { code, message } = await exportOnce(gateway.otlpPort, 'HTTP protobuf', { token, signal })
    codes.push(code)
    messages.push(message)
  }
  expect(codes).toEqual([200, 429, 200, 200, 429])
  expect(messages[1]).toBe(`The ingest token ${id} is over its limit logs.day.requests.`)
  expect(messages[4]).toBe(`The ingest token ${id} is over its limit all.day.requests.`)
  const throttled = 'otelcol_ingestauth_token_throttled'
  expect(new Set(await metricLines(gateway, `${throttled}{`))).toEqual(
    new Set([
      `${throttled}{limit="logs.day.requests",signal="logs",token_id="${id}"} 1`,
      `${throttled}{limit="all.day.requests",signal="traces",token_id="${id}"} 1`,
    ]),
  )
})

test('X-16: raising a limit lets its owner in at once', async () => {
  const gateway = await start()
  const { id, token } = await gateway.token({ limits: { all: { day: { requests: 1 } } } })
  expect(await tell(gateway, 'HTTP protobuf', { token }, 2)).toEqual([
    [200, undefined],
    [429, '3600'],
  ])
  await gateway.call('PATCH', `/tokens/${id}`, { limits: { all: { day: { requests: 2 } } } })
  expect(await tell(gateway, 'HTTP protobuf', { token }, 2)).toEqual([
    [200, undefined],
    [429, '3600'],
  ])
})

test('X-16: what has been used up today stays so over a restart', async () => {
  const sink = await startSink()
  const dataDir = mkdtempSync(join(tmpdir(), 'penstock-limits-'))
  onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }))
  const env = { PENSTOCK_UPSTREAM: sink.url, PENSTOCK_DATA_DIR: dataDir }
  const body = exportBody({}, 'protobuf')
  const first = await startGatewayAt(startMs, env)
  const { token } = await first.token({ limits: { all: { day: { bytes: 3 * body.length } } } })
  expect(await tell(first, 'HTTP protobuf', { token, body }, 2)).toEqual([
    [200, undefined],
    [200, undefined],
  ])
  first.clock.flow()
  await first.stop()

  const second = await startGatewayAt(startMs + 60_000, env)
  expect(await tell(second, 'HTTP protobuf', { token, body }, 2)).toEqual([
    [200, undefined],
    [429, '3600'],
  ])
  await second.leapTo(Date.parse('2026-11-22T00:00:00Z'))
  expect(await tell(second, 'HTTP protobuf', { token, body })).toEqual([[200, undefined]])
})

test('O-3, T-17: use by token in the metrics and in the list', async () => {
  const gateway = await start()
  const { id, token } = await gateway.token({ name: 'ci-runners', signals: ['traces', 'logs'] })
  await gateway.enforce(true)
  const body = exportBody({}, 'protobuf')
  await tell(gateway, 'HTTP protobuf', { token, body }, 3)
  await tell(gateway, 'HTTP protobuf', { token, signal: 'metrics' })
  await tell(gateway, 'gRPC', { token, signal: 'logs' })

  const labels = (signal: string) => `{signal="${signal}",token_id="${id}",token_name="ci-runners"}`
  const lines = await metricLines(gateway, 'otelcol_ingestauth_token_')
  expect(lines).toContain(`otelcol_ingestauth_token_requests${labels('traces')} 3`)
  expect(lines).toContain(`otelcol_ingestauth_token_requests${labels('logs')} 1`)
  expect(lines).toContain(`otelcol_ingestauth_token_bytes${labels('traces')} ${3 * body.length}`)

  await gateway.leapTo(startMs + 10_000)
  const entry = await until('use has been written down', async () => {
    const { json } = await gateway.call<{ last_used_at: string | null; usage_24h: { bytes: number } }>(
      'GET',
      `/tokens/${id}`,
    )
    return json.last_used_at !== null && json
  })
  expect(entry.last_used_at).toBe('2026-11-21T07:03:00Z')
  expect(entry.usage_24h).toMatchObject({ requests: 4, rejected: 1 })
  expect((await gateway.call<object[]>('GET', '/tokens')).json[0]).toMatchObject({ id, usage_24h: entry.usage_24h })
  expect(entry.usage_24h.bytes).toBeGreaterThan(3 * body.length)
})
