import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { startSink } from './accepting-sink.ts'
import { type ClientKind, clientKinds, type Export, exportOnce, okCode } from './export-client.ts'
import { metricLines } from './metrics-page.ts'
import { type SteppedGateway, startGatewayAt } from './stepped-clock.ts'
import { exportBody } from './telemetry.ts'
import { until } from './until.ts'

const startMs = Date.parse('2026-11-21T07:03:00Z')

const start = async (): Promise<SteppedGateway> => {
  const sink = await startSink()
  return startGatewayAt(startMs, { PENSTOCK_UPSTREAM: sink.url })
}

/** Returns the code and the Retry-After of several exports, one after another. */
async function exportTimes(gateway: SteppedGateway, kind: ClientKind, options: Export, times = 1) {
  const replies: [number, string | undefined][] = []
  for (let time = 0; time < times; time += 1) {
    const { code, retryAfter } = await exportOnce(gateway.otlpPort, kind, options)
    replies.push([code, retryAfter])
  }
  return replies
}

describe.each(clientKinds)('%s', (kind) => {
  const ok = [okCode[kind], undefined]
  const over = kind === 'gRPC' ? 14 : 429

  test('X-16: limits requests per second, and returns the exact wait', async () => {
    const gateway = await start()
    const { id, token } = await gateway.token({ limits: { all: { second: { requests: 2 } } } })
    expect(await exportTimes(gateway, kind, { token }, 3)).toEqual([ok, ok, [over, '1']])
    const { message } = await exportOnce(gateway.otlpPort, kind, { token })
    expect(message).toBe(`The ingest token ${id} is over its limit all.second.requests.`)
    await gateway.advanceTo(startMs + 499)
    expect(await exportTimes(gateway, kind, { token })).toEqual([[over, '1']])
    await gateway.advanceTo(startMs + 500)
    expect(await exportTimes(gateway, kind, { token }, 2)).toEqual([ok, [over, '1']])
    await gateway.advanceTo(startMs + 10_000)
    expect(await exportTimes(gateway, kind, { token }, 3)).toEqual([ok, ok, [over, '1']])
  })

  test('X-16: limits bytes per second; a body above the limit is admitted when the bucket is full, and delays later ones', async () => {
    const gateway = await start()
    const { token } = await gateway.token({ limits: { all: { second: { bytes: 100 } } } })
    const options: Export = {
      token,
      body: exportBody({ items: ['x'.repeat(500)] }, kind === 'HTTP JSON' ? 'json' : 'protobuf'),
    }
    const bytes = options.body!.length
    expect(await exportTimes(gateway, kind, options)).toEqual([ok])
    // A body of known length needs a full bucket. One of unknown length, as in gRPC, needs only a free byte.
    const waitSeconds = (bytes - (kind === 'gRPC' ? 99 : 0)) / 100
    const [[code, wait]] = (await exportTimes(gateway, kind, options)) as [[number, string]]
    expect([code, wait]).toEqual([over, String(Math.ceil(waitSeconds))])
    await gateway.advanceTo(startMs + Number(wait) * 1_000)
    expect(await exportTimes(gateway, kind, options)).toEqual([ok])
  })

  test('X-16: the daily quota resets at 00:00 UTC, and the wait is an hour at most', async () => {
    const gateway = await start()
    const { token } = await gateway.token({ limits: { all: { day: { requests: 2 } } } })
    expect(await exportTimes(gateway, kind, { token }, 3)).toEqual([ok, ok, [over, '3600']])
    await gateway.advanceTo(Date.parse('2026-11-21T23:59:00Z'))
    expect(await exportTimes(gateway, kind, { token })).toEqual([[over, '60']])
    await gateway.advanceTo(Date.parse('2026-11-22T00:00:00Z'))
    expect(await exportTimes(gateway, kind, { token }, 3)).toEqual([ok, ok, [over, '3600']])
  })
})

test('X-16: a limit of one signal does not affect the others; a limit of all counts every signal', async () => {
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

test('X-16: raising a limit takes effect immediately', async () => {
  const gateway = await start()
  const { id, token } = await gateway.token({ limits: { all: { day: { requests: 1 } } } })
  expect(await exportTimes(gateway, 'HTTP protobuf', { token }, 2)).toEqual([
    [200, undefined],
    [429, '3600'],
  ])
  await gateway.call('PATCH', `/tokens/${id}`, { limits: { all: { day: { requests: 2 } } } })
  expect(await exportTimes(gateway, 'HTTP protobuf', { token }, 2)).toEqual([
    [200, undefined],
    [429, '3600'],
  ])
})

test('X-16: the used part of a daily quota survives a restart', async () => {
  const sink = await startSink()
  const dataDir = mkdtempSync(join(tmpdir(), 'penstock-limits-'))
  onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }))
  const env = { PENSTOCK_UPSTREAM: sink.url, PENSTOCK_DATA_DIR: dataDir }
  const body = exportBody({}, 'protobuf')
  const first = await startGatewayAt(startMs, env)
  const { token } = await first.token({ limits: { all: { day: { bytes: 3 * body.length } } } })
  expect(await exportTimes(first, 'HTTP protobuf', { token, body }, 2)).toEqual([
    [200, undefined],
    [200, undefined],
  ])
  first.clock.resume()
  await first.stop()

  const second = await startGatewayAt(startMs + 60_000, env)
  expect(await exportTimes(second, 'HTTP protobuf', { token, body }, 2)).toEqual([
    [200, undefined],
    [429, '3600'],
  ])
  await second.advanceTo(Date.parse('2026-11-22T00:00:00Z'))
  expect(await exportTimes(second, 'HTTP protobuf', { token, body })).toEqual([[200, undefined]])
})

test('O-3, T-17: the use of a token is in the metrics and in the list', async () => {
  const gateway = await start()
  const { id, token } = await gateway.token({ name: 'ci-runners', signals: ['traces', 'logs'] })
  await gateway.enforce(true)
  const body = exportBody({}, 'protobuf')
  await exportTimes(gateway, 'HTTP protobuf', { token, body }, 3)
  await exportTimes(gateway, 'HTTP protobuf', { token, signal: 'metrics' })
  await exportTimes(gateway, 'gRPC', { token, signal: 'logs' })

  const labels = (signal: string) => `{signal="${signal}",token_id="${id}",token_name="ci-runners"}`
  const lines = await metricLines(gateway, 'otelcol_ingestauth_token_')
  expect(lines).toContain(`otelcol_ingestauth_token_requests${labels('traces')} 3`)
  expect(lines).toContain(`otelcol_ingestauth_token_requests${labels('logs')} 1`)
  expect(lines).toContain(`otelcol_ingestauth_token_bytes${labels('traces')} ${3 * body.length}`)

  await gateway.advanceTo(startMs + 10_000)
  const entry = await until('the use is stored', async () => {
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
