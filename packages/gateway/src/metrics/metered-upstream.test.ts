import { jsonLog, silentLog } from '@penstock/runtime'
import { Gate } from '@penstock/testkit'
import { expect, test } from 'vitest'
import type { Answer } from '../contract/answer.ts'
import { clientGone } from '../contract/gateway-answers.ts'
import type { Upstream, UpstreamRequest } from '../contract/upstream.ts'
import { meteredUpstream } from './metered-upstream.ts'
import { prometheusText } from './prometheus-text.ts'
import { MetricRegistry } from './registry.ts'

const accepted: Answer = { kind: 'accepted', partialSuccess: undefined, body: undefined }
const throttled: Answer = {
  kind: 'refused',
  cause: 'throttled',
  httpStatus: 503,
  grpcCode: 14,
  message: 'later',
  retryAfter: 2,
  status: undefined,
}

const request: UpstreamRequest = {
  signal: 'traces',
  encoding: 'protobuf',
  contentEncoding: '',
  headers: [],
  body: new Uint8Array(),
  contentLength: 0,
  deadlineMs: 1_000,
}

function upstream(send: (request: UpstreamRequest) => Promise<Answer>): Upstream {
  return { name: 'http://store:4318', bodyLimitBytes: 1_000, send, close: async () => {} }
}

const samples = (registry: MetricRegistry): string[] =>
  prometheusText([registry.report()])
    .split('\n')
    .filter((line) => /^otelcol_exporter_(?!.*_bucket)/.test(line))

test('O-11: counts accepted and failed requests, and measures their duration', async () => {
  const registry = new MetricRegistry()
  const answers = [accepted, throttled]
  const times = [0, 250, 1_000, 1_500]
  const metered = meteredUpstream(
    upstream(async () => answers.shift()!),
    registry,
    () => times.shift()!,
    silentLog,
  )
  await metered.send(request)
  await metered.send(request)

  expect(samples(registry)).toEqual([
    'otelcol_exporter_sent_requests{upstream="http://store:4318"} 1',
    'otelcol_exporter_send_failed_requests{error_type="throttled",upstream="http://store:4318"} 1',
    'otelcol_exporter_in_flight_requests{upstream="http://store:4318"} 0',
    'otelcol_exporter_request_duration_sum{upstream="http://store:4318"} 0.75',
    'otelcol_exporter_request_duration_count{upstream="http://store:4318"} 2',
  ])
})

test('O-11: a request is in flight until it ends, also if it fails', async () => {
  const registry = new MetricRegistry()
  const gate = new Gate()
  const broken = async () => {
    await gate.opened
    throw new Error('a bug')
  }
  const sending = meteredUpstream(upstream(broken), registry, () => 0, silentLog).send(request)
  const inFlight = registry.cell('otelcol_exporter_in_flight_requests', { upstream: 'http://store:4318' })
  expect(inFlight.value).toBe(1)
  gate.open()
  await expect(sending).rejects.toThrow('a bug')
  expect(inFlight.value).toBe(0)
})

test('X-5: a request that its client gave up is not a failure of the upstream', async () => {
  const registry = new MetricRegistry()
  const metered = meteredUpstream(
    upstream(async () => clientGone),
    registry,
    () => 0,
    silentLog,
  )
  expect(await metered.send(request)).toBe(clientGone)

  expect(samples(registry)).toEqual([
    'otelcol_exporter_sent_requests{upstream="http://store:4318"} 0',
    'otelcol_exporter_in_flight_requests{upstream="http://store:4318"} 0',
    'otelcol_exporter_request_duration_sum{upstream="http://store:4318"} 0',
    'otelcol_exporter_request_duration_count{upstream="http://store:4318"} 0',
  ])
})

test('logs once when an upstream becomes unreachable, and once when it is reachable again', async () => {
  const lines: string[] = []
  const log = jsonLog({ write: (line) => void lines.push(line) }, () => 0)
  const lost: Answer = { ...throttled, cause: 'unreachable' }
  const answers = [accepted, lost, lost, throttled, lost, accepted]
  const metered = meteredUpstream(
    upstream(async () => answers.shift()!),
    new MetricRegistry(),
    () => 0,
    log,
  )
  while (answers.length > 0) await metered.send(request)
  expect(lines.map((line) => JSON.parse(line).event)).toEqual([
    'upstream.unreachable',
    'upstream.reached',
    'upstream.unreachable',
    'upstream.reached',
  ])
})
