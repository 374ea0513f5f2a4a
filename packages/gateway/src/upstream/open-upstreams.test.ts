import { jsonLog } from '@penstock/runtime'
import { ManualClock, refusedUrl, ScriptedServer } from '@penstock/testkit'
import { afterEach, describe, expect, test } from 'vitest'
import { defaultGatewayConfig } from '../contract/gateway-config.ts'
import type { Upstream } from '../contract/upstream.ts'
import { MetricRegistry } from '../metrics/registry.ts'
import { GrpcScript, trailersOnly } from './grpc-script.harness.ts'
import { openUpstreams } from './open-upstreams.ts'

const open: { close(): unknown }[] = []
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.close()
})

async function setUp(url: string) {
  const clock = new ManualClock(Date.now())
  const metrics = new MetricRegistry()
  const lines: string[] = []
  const log = jsonLog({ write: (line) => lines.push(line) }, () => clock.nowMs())
  const config = { ...defaultGatewayConfig, upstream: { url } }
  const upstreams = await openUpstreams(config, { clock, random: () => 0, log, metrics })
  open.push(upstreams)
  const upstream = upstreams.at({ kind: 'default' })
  const failures = () =>
    metrics
      .report()
      .cells.filter(({ name }) => name === 'otelcol_exporter_send_failed_requests')
      .map(({ labels, value }) => [labels.upstream, labels.error_type, value])
  const send = (onAbortable?: (abort: () => void) => void) => sendTo(upstream, clock, onAbortable)
  const events = () => lines.map((line) => JSON.parse(line).event)
  return { upstream, clock, metrics, send, failures, events }
}

const sendTo = (upstream: Upstream, clock: ManualClock, onAbortable: (abort: () => void) => void = () => {}) =>
  upstream.send({
    signal: 'traces',
    encoding: 'protobuf',
    contentEncoding: '',
    headers: [],
    body: Uint8Array.of(0x0a, 0),
    contentLength: 2,
    deadlineMs: clock.monotonicMs() + 20_000,
    onAbortable,
  })

const silent = {
  http: async () => {
    const server = await ScriptedServer.start([{ play: 'silence' }])
    open.push(server)
    return { url: server.url, arrived: () => server.received(1) }
  },
  grpc: async () => {
    const server = await GrpcScript.start(() => {})
    open.push(server)
    return { url: server.url.href, arrived: () => server.until(() => server.requests.length === 1) }
  },
}

describe.each(['http', 'grpc'] as const)('O-11: a %s upstream', (protocol) => {
  test('counts failed requests if it cannot be reached', async () => {
    const { upstream, send, failures } = await setUp((await refusedUrl()).replace('http:', `${protocol}:`))
    await send()
    await send()
    expect(failures()).toEqual([[upstream.name, 'unreachable', 2]])
  })

  test('X-5: does not count or time a request that the client has aborted', async () => {
    const { url, arrived } = await silent[protocol]()
    const { send, failures, metrics } = await setUp(url)
    let abort = () => {}
    const sending = send((abortRequest) => (abort = abortRequest))
    await arrived()
    abort()
    await sending
    const { cells, histograms } = metrics.report()
    expect(failures()).toEqual([])
    expect(cells.map(({ name, value }) => [name, value])).toEqual([
      ['otelcol_exporter_sent_requests', 0],
      ['otelcol_exporter_in_flight_requests', 0],
    ])
    expect(histograms.map(({ sum }) => sum)).toEqual([0])
  })
})

const refusing = {
  http: async () => {
    const server = await ScriptedServer.start(Array(8).fill({ play: 'reply', status: 401 }))
    open.push(server)
    return server.url
  },
  grpc: async () => {
    const server = await GrpcScript.start(trailersOnly({ 'grpc-status': '16' }))
    open.push(server)
    return server.url.href
  },
}

test.each(['http', 'grpc'] as const)('logs an alarm of a %s upstream at most once a minute', async (protocol) => {
  const { send, clock, events } = await setUp(await refusing[protocol]())
  await send()
  await send()
  expect(events()).toEqual(['upstream.credential'])
  await clock.advance(59_999)
  await send()
  expect(events()).toEqual(['upstream.credential'])
  await clock.advance(1)
  await send()
  expect(events()).toEqual(['upstream.credential', 'upstream.credential'])
})
