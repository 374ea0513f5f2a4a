/*
 * The JavaScript client of the interoperability tests: the OpenTelemetry SDK's own OTLP exporters, controlled by
 * lines of JSON on its input (see ExportOrder in client-process.ts), each answered by a line of JSON on its output.
 */
import { createInterface } from 'node:readline'
import { Metadata } from '@grpc/grpc-js'
import { SeverityNumber } from '@opentelemetry/api-logs'
import { OTLPLogExporter as GrpcLogs } from '@opentelemetry/exporter-logs-otlp-grpc'
import { OTLPLogExporter as JsonLogs } from '@opentelemetry/exporter-logs-otlp-http'
import { OTLPLogExporter as ProtoLogs } from '@opentelemetry/exporter-logs-otlp-proto'
import { OTLPMetricExporter as GrpcMetrics } from '@opentelemetry/exporter-metrics-otlp-grpc'
import { OTLPMetricExporter as JsonMetrics } from '@opentelemetry/exporter-metrics-otlp-http'
import { OTLPMetricExporter as ProtoMetrics } from '@opentelemetry/exporter-metrics-otlp-proto'
import { OTLPTraceExporter as GrpcTraces } from '@opentelemetry/exporter-trace-otlp-grpc'
import { OTLPTraceExporter as JsonTraces } from '@opentelemetry/exporter-trace-otlp-http'
import { OTLPTraceExporter as ProtoTraces } from '@opentelemetry/exporter-trace-otlp-proto'
import { LoggerProvider } from '@opentelemetry/sdk-logs'
import { MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics'
import { BasicTracerProvider } from '@opentelemetry/sdk-trace-base'

const exporterClasses = {
  'http/json': { traces: JsonTraces, metrics: JsonMetrics, logs: JsonLogs },
  'http/protobuf': { traces: ProtoTraces, metrics: ProtoMetrics, logs: ProtoLogs },
  grpc: { traces: GrpcTraces, metrics: GrpcMetrics, logs: GrpcLogs },
}

function newExporter({ protocol, signal, endpoint, token, compression, timeoutMs }) {
  const Exporter = exporterClasses[protocol][signal]
  const common = { compression, timeoutMillis: timeoutMs }
  const headers = token ? { authorization: `Bearer ${token}` } : {}
  if (protocol !== 'grpc') return new Exporter({ ...common, url: `${endpoint}/v1/${signal}`, headers })
  const metadata = new Metadata()
  for (const [name, value] of Object.entries(headers)) metadata.set(name, value)
  return new Exporter({ ...common, url: endpoint, metadata })
}

class ManualReader extends MetricReader {
  async onForceFlush() {}
  async onShutdown() {}
}

/** Returns the input for the exporter of a signal, made by the SDK. */
const telemetry = {
  async traces(name, attributes) {
    const ended = []
    const processor = { onStart() {}, onEnd: (span) => ended.push(span), async forceFlush() {}, async shutdown() {} }
    new BasicTracerProvider({ spanProcessors: [processor] }).getTracer('interop').startSpan(name, { attributes }).end()
    return ended
  },
  async metrics(name, attributes) {
    const reader = new ManualReader()
    const provider = new MeterProvider({ readers: [reader] })
    provider.getMeter('interop').createCounter(name).add(1, attributes)
    return (await reader.collect()).resourceMetrics
  },
  async logs(name, attributes) {
    const emitted = []
    const processor = { onEmit: (record) => emitted.push(record), async forceFlush() {}, async shutdown() {} }
    const logger = new LoggerProvider({ processors: [processor] }).getLogger('interop')
    logger.emit({ severityNumber: SeverityNumber.INFO, body: name, attributes })
    return emitted
  },
}

const exporters = new Map()

process.stdout.write(`${JSON.stringify({ id: 'ready' })}\n`)

for await (const line of createInterface({ input: process.stdin })) {
  const order = JSON.parse(line)
  const { id, signal, name, padding } = order
  if (!exporters.has(order.exporter)) exporters.set(order.exporter, newExporter(order))
  const items = await telemetry[signal](name, { padding: 'x'.repeat(padding) })
  exporters.get(order.exporter).export(items, ({ code, error }) => {
    const reason = error === undefined ? '' : `${error.name} ${error.code ?? ''} ${error.message}`
    process.stdout.write(`${JSON.stringify({ id, ok: code === 0, error: reason })}\n`)
  })
}
process.exit(0)
