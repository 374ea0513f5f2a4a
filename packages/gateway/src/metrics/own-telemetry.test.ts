import { decodeRequest } from '@penstock/otlp'
import { jsonLog, silentLog } from '@penstock/runtime'
import { refusedUrl, type ScriptedReply, ScriptedServer } from '@penstock/testkit'
import { describe, expect, onTestFinished, test } from 'vitest'
import { GateMetrics } from './gate-metrics.ts'
import { type AddressBook, findListenerReachedBy } from './listener-loop.ts'
import { startOwnTelemetry, TelemetryLoopError } from './own-telemetry.ts'

const ok: ScriptedReply = { play: 'reply', status: 200 }

function settings(url: string, metrics: GateMetrics, nowMs: () => number = () => 60_000) {
  return {
    url,
    listeners: [{ host: '127.0.0.1', port: 4318 }],
    version: '0.1.0',
    instanceId: 'gate-1',
    startMs: 1_500,
    nowMs,
    reports: async () => [metrics.report()],
    log: silentLog,
  }
}

async function receiver(script: readonly ScriptedReply[]): Promise<ScriptedServer> {
  const server = await ScriptedServer.start(script)
  onTestFinished(() => server.close())
  return server
}

function received(server: ScriptedServer, index: number) {
  const [group] = decodeRequest('metrics', server.requests[index]!.body, 'protobuf').resources
  const metrics = new Map(group!.scopes[0]!.items.map((metric) => [metric.name, metric]))
  return { resource: group!.resource, metrics }
}

test('pushes the same numbers as OTLP, cumulative, from penstock-gateway', async () => {
  const server = await receiver([ok])
  const metrics = new GateMetrics()
  metrics.answered('success', 'http')
  metrics.verifyDuration(0.25)
  metrics.registry.cell('otelcol_ingestauth_snapshot_age_seconds').value = 1.5
  const own = await startOwnTelemetry(settings(`${server.url}/prefix/`, metrics))
  await own.close()

  expect(server.requests.map(({ method, path }) => [method, path])).toEqual([['POST', '/prefix/v1/metrics']])
  const { resource, metrics: sent } = received(server, 0)
  expect(resource?.attributes).toEqual([
    { key: 'service.name', type: 'string', value: 'penstock-gateway' },
    { key: 'service.version', type: 'string', value: '0.1.0' },
    { key: 'service.instance.id', type: 'string', value: 'gate-1' },
  ])
  expect(sent.get('otelcol_receiver_requests')).toMatchObject({
    unit: '{requests}',
    data: { type: 'sum', aggregationTemporality: 2, isMonotonic: true },
  })
  expect(sent.get('otelcol_receiver_requests')?.data?.dataPoints[0]).toMatchObject({
    attributes: [
      { key: 'receiver', value: 'otlp' },
      { key: 'transport', value: 'http' },
      { key: 'outcome', value: 'success' },
    ],
    startTimeUnixNano: 1_500_000_000n,
    timeUnixNano: 60_000_000_000n,
    value: { type: 'int', value: 1n },
  })
  expect(sent.get('otelcol_ingestauth_verify_duration')).toMatchObject({
    unit: 's',
    data: { type: 'histogram', dataPoints: [{ count: 1n, sum: 0.25 }] },
  })
  expect(sent.get('otelcol_ingestauth_snapshot_age_seconds')).toMatchObject({
    data: { type: 'gauge', dataPoints: [{ value: { type: 'double', value: 1.5 } }] },
  })
})

test('closing sends what is left, once', async () => {
  const server = await receiver([ok, ok])
  const metrics = new GateMetrics()
  const own = await startOwnTelemetry(settings(server.url, metrics))
  await own.flush()
  await Promise.all([own.close(), own.close()])
  expect(server.requests).toHaveLength(2)
})

test('a receiver that fails is logged once, and its recovery too', async () => {
  const lines: string[] = []
  const server = await receiver([{ play: 'reply', status: 400 }, { play: 'reply', status: 400 }, ok, ok])
  const log = jsonLog({ write: (line) => lines.push(line) }, () => 0)
  const own = await startOwnTelemetry({ ...settings(server.url, new GateMetrics()), log })
  for (let pushes = 0; pushes < 3; pushes += 1) await own.flush()
  await own.close()

  expect(lines.map((line) => (JSON.parse(line) as { event: string }).event)).toEqual([
    'own_telemetry.failing',
    'own_telemetry.recovered',
  ])
})

test('closing ends although the receiver refuses connections', async () => {
  const own = await startOwnTelemetry({ ...settings(await refusedUrl(), new GateMetrics()), timeoutMs: 100 })
  await own.close()
})

describe('O-15: the gateway does not send to itself', () => {
  const addresses: AddressBook = {
    resolve: async (host) =>
      host === 'gate.example' ? ['192.0.2.10'] : host === 'localhost' ? ['::1', '127.0.0.1'] : [],
    local: () => ['127.0.0.1', '::1', '192.0.2.10'],
  }

  test.each([
    ['http://127.0.0.1:4318', '127.0.0.1', 4318],
    ['http://localhost:4318', '127.0.0.1', 4318],
    ['http://127.0.0.1:4318', 'localhost', 4318],
    ['http://127.0.0.1:4318', '0.0.0.0', 4318],
    ['http://0.0.0.0:4318', '0.0.0.0', 4318],
    ['http://127.5.5.5:4318', '0.0.0.0', 4318],
    ['http://[::1]:4318', '::', 4318],
    ['http://gate.example:4318', '::', 4318],
    ['http://gate.example:4318', '192.0.2.10', 4318],
    ['http://gate.example', '0.0.0.0', 80],
    ['https://gate.example/otlp', '0.0.0.0', 443],
  ])('%s reaches a listener on %s:%i', async (url, host, port) => {
    expect(await findListenerReachedBy(new URL(url), [{ host, port }], addresses)).toEqual({ host, port })
  })

  test.each([
    ['http://127.0.0.1:4319', '127.0.0.1', 4318],
    ['http://store.example:4318', '0.0.0.0', 4318],
    ['http://192.0.2.99:4318', '0.0.0.0', 4318],
    ['http://192.0.2.10:4318', '127.0.0.1', 4318],
  ])('%s does not reach a listener on %s:%i', async (url, host, port) => {
    expect(await findListenerReachedBy(new URL(url), [{ host, port }], addresses)).toBeUndefined()
  })

  test('the error names the listener', async () => {
    const starting = startOwnTelemetry(settings('http://user:secret@127.0.0.1:4318/', new GateMetrics()))
    await expect(starting).rejects.toThrow(TelemetryLoopError)
    await expect(starting).rejects.toThrow(
      "own telemetry must not be sent to 127.0.0.1:4318: this is the gateway's own listener 127.0.0.1:4318",
    )
  })
})
