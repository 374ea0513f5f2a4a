import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SeverityNumber } from '@opentelemetry/api-logs'
import { OTLPLogExporter } from '@opentelemetry/exporter-logs-otlp-grpc'
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-grpc'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-grpc'
import { BatchLogRecordProcessor, LoggerProvider } from '@opentelemetry/sdk-logs'
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics'
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { systemClock } from '@penstock/runtime'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Ingest } from '../../packages/gateway/src/admission/ingest.ts'
import type { Upstream } from '../../packages/gateway/src/contract/upstream.ts'
import { admittedWithoutToken, startFront } from '../../packages/gateway/src/grpc/grpc-front.harness.ts'
import { GrpcUpstream } from '../../packages/gateway/src/upstream/grpc-upstream.ts'
import { type Collector, startCollector } from '../collector/collector.ts'
import { describeWithCollector } from '../collector/collector-suite.ts'
import { countItems, type Signal, waitForExported } from '../collector/exported-file.ts'

const config = (file: string) => `
receivers: {otlp: {protocols: {grpc: {endpoint: "127.0.0.1:0"}}}}
exporters: {file: {path: "${file}", flush_interval: 50ms}}
service:
  pipelines:
    traces: {receivers: [otlp], exporters: [file]}
    metrics: {receivers: [otlp], exporters: [file]}
    logs: {receivers: [otlp], exporters: [file]}
`

/** Admits every call and forwards it. */
function admitAll(upstream: Upstream, streams: boolean): Ingest {
  const deadlineMs = (given: number | undefined) =>
    Math.min(given ?? Number.POSITIVE_INFINITY, performance.now() + 10_000)
  return {
    admit: () => admittedWithoutToken,
    recordWrongPath: () => {},
    maxBufferedBytes: () => (streams ? 0 : Number.POSITIVE_INFINITY),
    refusalBeforeBody: () => undefined,
    reserve: () => undefined,
    reserveArrived: () => undefined,
    bodyEnded: () => {},
    abandon: () => {},
    sendBuffered: (call, body) =>
      upstream.send({ ...call, body, contentLength: body.length, deadlineMs: deadlineMs(call.deadlineMs) }),
    sendStream: (call, body) =>
      upstream.send({ ...call, body, contentLength: call.declaredBytes, deadlineMs: deadlineMs(call.deadlineMs) }),
  }
}

describeWithCollector('OTLP/gRPC through the gateway to a collector', () => {
  let directory: string
  let collector: Collector
  let upstream: GrpcUpstream

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'gateway-grpc-'))
    collector = await startCollector({ config: { yaml: config(join(directory, 'out.json')) } })
    upstream = new GrpcUpstream(
      { target: { url: new URL(`grpc://${collector.grpcEndpoint}`) }, credential: () => undefined },
      { clock: systemClock, random: Math.random, onAlarm: () => {} },
    )
  })
  afterEach(async () => {
    await upstream.close()
    await collector.stop()
    await rm(directory, { recursive: true })
  })

  async function received(signal: Signal, items: number): Promise<number> {
    const lines = await waitForExported(join(directory, 'out.json'), signal, items)
    return lines.reduce((sum, line) => sum + countItems(line, signal), 0)
  }

  test.each([
    ['whole', 'none'],
    ['whole', 'gzip'],
    ['streamed', 'none'],
    ['streamed', 'gzip'],
  ])('forwards everything that the SDK exports once (%s, compression %s)', async (way, compression) => {
    const { listener, address, endings } = await startFront({ ingest: admitAll(upstream, way === 'streamed') })
    const options = { url: `http://${address}`, compression: compression as never }

    const tracerProvider = new BasicTracerProvider({
      spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter(options), { maxExportBatchSize: 100 })],
    })
    const loggerProvider = new LoggerProvider({
      processors: [new BatchLogRecordProcessor({ exporter: new OTLPLogExporter(options), maxExportBatchSize: 100 })],
    })
    const meterProvider = new MeterProvider({
      readers: [new PeriodicExportingMetricReader({ exporter: new OTLPMetricExporter(options) })],
    })
    for (let i = 0; i < 500; i++) {
      tracerProvider.getTracer('t').startSpan(`span ${i}`).end()
      loggerProvider.getLogger('l').emit({ severityNumber: SeverityNumber.INFO, body: `record ${i}` })
      meterProvider.getMeter('m').createCounter(`counter_${i}`).add(1)
    }
    await Promise.all([tracerProvider.forceFlush(), loggerProvider.forceFlush(), meterProvider.forceFlush()])
    await Promise.all([tracerProvider.shutdown(), loggerProvider.shutdown()])

    expect(await received('traces', 500)).toBe(500)
    expect(await received('logs', 500)).toBe(500)
    expect(await received('metrics', 500)).toBe(500)
    expect(new Set(endings.map(({ outcome }) => outcome))).toEqual(new Set(['success']))
    await meterProvider.shutdown()
    await listener.close()
  })

  test('returns the error of the collector for a broken message', async () => {
    const answer = await upstream.send({
      signal: 'traces',
      encoding: 'protobuf',
      contentEncoding: '',
      headers: [],
      body: Uint8Array.of(0x0a, 5),
      contentLength: 2,
      deadlineMs: performance.now() + 10_000,
    })
    expect(answer).toMatchObject({ kind: 'refused', cause: 'rejected', httpStatus: 500, grpcCode: 13 })
  })
})
