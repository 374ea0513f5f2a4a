import { OTLPLogExporter as GrpcLogExporter } from '@opentelemetry/exporter-logs-otlp-grpc'
import { OTLPLogExporter as JsonLogExporter } from '@opentelemetry/exporter-logs-otlp-http'
import { OTLPLogExporter as ProtobufLogExporter } from '@opentelemetry/exporter-logs-otlp-proto'
import { OTLPMetricExporter as GrpcMetricExporter } from '@opentelemetry/exporter-metrics-otlp-grpc'
import { OTLPMetricExporter as JsonMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http'
import { OTLPMetricExporter as ProtobufMetricExporter } from '@opentelemetry/exporter-metrics-otlp-proto'
import { OTLPTraceExporter as GrpcTraceExporter } from '@opentelemetry/exporter-trace-otlp-grpc'
import { OTLPTraceExporter as JsonTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { OTLPTraceExporter as ProtobufTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { type Conversion, toReadableLogRecords, toReadableSpans, toResourceMetrics } from '@penstock/converter'
import { type OtlpRequest, type Signal, signalNames } from '@penstock/otlp'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { describeWithCollector } from '../collector/collector-suite.ts'
import { type Agent, itemCount, startAgent } from './agent.ts'
import { compareModels } from './compare-models.ts'
import { fixtureCases } from './fixture-cases.ts'
import { DifferenceTally, sdkLosses } from './known-differences.ts'

const exporters = {
  'HTTP/JSON': { traces: JsonTraceExporter, metrics: JsonMetricExporter, logs: JsonLogExporter },
  'HTTP/protobuf': { traces: ProtobufTraceExporter, metrics: ProtobufMetricExporter, logs: ProtobufLogExporter },
  gRPC: { traces: GrpcTraceExporter, metrics: GrpcMetricExporter, logs: GrpcLogExporter },
}
type Transport = keyof typeof exporters
const transports = Object.keys(exporters) as Transport[]

/** Exports a conversion, and returns `undefined` if the collector accepted it, or the reason if not. */
type Send = (conversion: Conversion) => Promise<string | undefined>

/** Returns the three standard exporters of a transport. */
function sendersOf(
  transport: Transport,
  { collector }: Agent,
): Record<Signal, Send> & { shutdown(): Promise<unknown> } {
  const { traces, metrics, logs } = exporters[transport]
  const urlOf = (signal: Signal) =>
    transport === 'gRPC' ? `http://${collector.grpcEndpoint}` : `${collector.httpEndpoint}/v1/${signal}`
  const traceExporter = new traces({ url: urlOf('traces') })
  const metricExporter = new metrics({ url: urlOf('metrics') })
  const logExporter = new logs({ url: urlOf('logs') })
  return {
    traces: (conversion) => result((done) => traceExporter.export(toReadableSpans(conversion.traces), done)),
    metrics: async (conversion) => {
      const [one, ...more] = toResourceMetrics(conversion.metrics)
      expect(more).toEqual([])
      return result((done) => metricExporter.export(one!, done))
    },
    logs: (conversion) => result((done) => logExporter.export(toReadableLogRecords(conversion.logs), done)),
    shutdown: () => Promise.all([traceExporter, metricExporter, logExporter].map((exporter) => exporter.shutdown())),
  }
}

function result(start: (done: (result: { code: number; error?: Error }) => void) => void): Promise<string | undefined> {
  return new Promise((resolve) => {
    start(({ code, error }) => resolve(code === 0 ? undefined : (error?.message ?? 'no reason given')))
  })
}

const cases = fixtureCases()

describeWithCollector('SDK views, sent by the standard exporters to a collector', () => {
  let agent: Agent

  beforeEach(async () => {
    agent = await startAgent()
  })
  afterEach(() => agent.stop())

  test.each(transports)('all fixtures over %s', async (transport) => {
    const senders = sendersOf(transport, agent)
    const tally = new DifferenceTally(sdkLosses)
    for (const signal of signalNames) {
      for (const { name, conversion } of cases) {
        expect([name, await senders[signal](conversion)]).toEqual([name, undefined])
      }
      const items = cases.reduce((sum, { conversion }) => sum + itemCount(conversion[signal]), 0)
      const received = await agent.received(signal, items)
      expect(received).toHaveLength(cases.length)
      cases.forEach(({ name, conversion }, i) => {
        tally.add(`${name}, ${signal}`, compareModels(conversion[signal], received[i]))
      })
    }
    await senders.shutdown()

    expect(tally.unexplained).toEqual([])
    expect(tally.unobserved).toEqual([])
    expect(tally.compared).toBeGreaterThan(140_000)
  })

  test.each(transports)('spans and log records of many pipelines in one export over %s', async (transport) => {
    const batch = cases.slice(0, 200)
    const together = <S extends 'traces' | 'logs'>(signal: S): OtlpRequest<S> => ({
      resources: batch.flatMap(({ conversion }) => (conversion[signal] as OtlpRequest<S>).resources),
    })
    const senders = sendersOf(transport, agent)
    const tally = new DifferenceTally(sdkLosses)
    for (const signal of ['traces', 'logs'] as const) {
      const request = together(signal)
      expect(await senders[signal]({ ...batch[0]!.conversion, [signal]: request })).toBeUndefined()
      const received = await agent.received(signal, itemCount(request))
      tally.add(signal, compareModels([request], received))
    }
    await senders.shutdown()

    expect(tally.unexplained).toEqual([])
    expect(tally.compared).toBeGreaterThan(25_000)
  })

  test('an integer next to 2^63 over HTTP/JSON arrives as the largest double below', async () => {
    const senders = sendersOf('HTTP/JSON', agent)
    const { conversion } = cases.find(({ name }) => name === 'e25-artifact-of-the-largest-int64')!
    expect(await senders.traces(conversion)).toBeUndefined()
    await senders.shutdown()

    const [received] = await agent.received('traces', itemCount(conversion.traces))
    const spans = received!.resources.flatMap(({ scopes }) => scopes.flatMap(({ items }) => items))
    const size = { key: 'job.artifacts.size', type: 'int', value: 9_223_372_036_854_775_000n }
    expect(spans.flatMap(({ attributes }) => attributes)).toContainEqual(size)
  })
})
