import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { type Collector, startCollector } from '../collector/collector.ts'
import type { Signal } from '../collector/exported-file.ts'
import { startGateway } from '../gateway/running-gateway.ts'
import { until } from '../gateway/until.ts'
import { type ExportOrder, type SdkLanguage, startSdkClients } from './client-process.ts'
import { type CollectorExporter, startCollectorClient } from './collector-client.ts'
import { describeWithClients } from './prepared.ts'

const signals: readonly Signal[] = ['traces', 'metrics', 'logs']

/** The protocols of each SDK's exporters, each with and without gzip. */
const sdkProtocols: Readonly<Record<SdkLanguage, readonly ExportOrder['protocol'][]>> = {
  js: ['http/json', 'http/protobuf', 'grpc'],
  python: ['http/protobuf', 'grpc'],
  go: ['http/protobuf', 'grpc'],
}
const collectorProtocols = ['http/json', 'http/protobuf', 'grpc'] as const
const collectorCompressions = ['none', 'gzip', 'zstd'] as const

const destination = (file: string) => `
receivers: {otlp: {protocols: {http: {endpoint: "127.0.0.1:0"}, grpc: {endpoint: "127.0.0.1:0"}}}}
exporters: {file: {path: "${file}", flush_interval: 50ms}}
service:
  pipelines:
    traces: {receivers: [otlp], exporters: [file]}
    metrics: {receivers: [otlp], exporters: [file]}
    logs: {receivers: [otlp], exporters: [file]}
`

describeWithClients('every exporter through the gateway to a collector', () => {
  test.each([
    // The gateway answers code 12 to gRPC messages that it cannot decode.
    {
      upstream: 'OTLP/HTTP',
      url: (collector: Collector) => collector.httpEndpoint,
      refused: ['collector-grpc-zstd'],
    },
    {
      upstream: 'OTLP/gRPC',
      url: (collector: Collector) => `grpc://${collector.grpcEndpoint}`,
      // JSON must be decoded to become a gRPC message, and zstd cannot be decoded by the gateway, so the answer is 415.
      refused: ['collector-grpc-zstd', 'collector-http-json-zstd'],
    },
  ])(
    'P-1, P-4, P-7, P-20: every signal in every encoding arrives once, upstream $upstream',
    async ({ url, refused }) => {
      const directory = mkdtempSync(join(tmpdir(), 'penstock-interop-'))
      onTestFinished(() => rmSync(directory, { recursive: true }))
      const file = join(directory, 'arrived.jsonl')
      const collector = await startCollector({ config: { yaml: destination(file) } })
      onTestFinished(() => collector.stop())
      const gateway = await startGateway({ PENSTOCK_UPSTREAM: url(collector) })
      const { token } = await gateway.token()
      await gateway.enforce(true)

      const orders = sdkOrders(gateway.otlpUrl, token)
      const exporters = collectorExporters(gateway.otlpUrl, token)
      const byCollector = exporters.flatMap(({ id }) =>
        signals.map((signal) => ({ id, signal, name: `${id}/${signal}` })),
      )
      const client = await startCollectorClient(exporters)
      const [outcomes] = await Promise.all([
        exportAll(orders),
        ...byCollector.map(({ id, signal, name }) => client.export(id, { signal, items: [name] })),
      ])

      expect(outcomes).toEqual(orders.map(({ name }) => ({ name, ok: true, error: '' })))
      const passing = byCollector.filter(({ id }) => !refused.includes(id))
      const expected = [...orders, ...passing].map(({ name }) => name).toSorted()
      await until('everything has arrived', () => namesIn(file).length >= expected.length)
      // Each collector flushes its data when it stops, so that no item can arrive a second time after this.
      await client.collector.stop()
      const dropped = client.collector.logs().match(/Dropping data.*/g) ?? []
      const droppedBy = dropped.map((line) => /otlp_\w+\/([^"]+)/.exec(line)?.[1])
      expect(droppedBy.toSorted()).toEqual(refused.flatMap((id) => [id, id, id]))
      await gateway.stop()
      await collector.stop()
      expect(namesIn(file)).toEqual(expected)
    },
    60_000,
  )
})

function sdkOrders(endpoint: string, token: string): (ExportOrder & { readonly language: SdkLanguage })[] {
  return Object.entries(sdkProtocols).flatMap(([language, protocols]) =>
    protocols.flatMap((protocol) =>
      (['none', 'gzip'] as const).flatMap((compression) =>
        signals.map((signal) => {
          const name = `${language}/${protocol}/${compression}/${signal}`
          const settings = { protocol, compression, signal, endpoint, token }
          const rest = { padding: 100, timeoutMs: 20_000, retryMs: 1_000 }
          return { language: language as SdkLanguage, id: name, exporter: name, name, ...settings, ...rest }
        }),
      ),
    ),
  )
}

function collectorExporters(endpoint: string, token: string): CollectorExporter[] {
  return collectorProtocols.flatMap((protocol) =>
    collectorCompressions.map((compression) => {
      const id = `collector-${protocol.replace('/', '-')}-${compression}`
      return { id, protocol, compression, endpoint, token }
    }),
  )
}

async function exportAll(orders: ReturnType<typeof sdkOrders>) {
  const clients = await startSdkClients()
  return Promise.all(
    orders.map(async ({ language, ...order }) => ({ name: order.name, ...(await clients[language].export(order)) })),
  )
}

/** Returns the names of spans and metrics and the bodies of log records, sorted. Names are unique, so a repeated name is a repeated item. */
function namesIn(file: string): string[] {
  const names: string[] = []
  for (const line of readFileSync(file, 'utf8').split('\n').slice(0, -1)) {
    const { resourceSpans = [], resourceMetrics = [], resourceLogs = [] } = JSON.parse(line)
    for (const { scopeSpans } of resourceSpans)
      for (const { spans } of scopeSpans) for (const { name } of spans) names.push(name)
    for (const { scopeMetrics } of resourceMetrics)
      for (const { metrics } of scopeMetrics) for (const { name } of metrics) names.push(name)
    for (const { scopeLogs } of resourceLogs)
      for (const { logRecords } of scopeLogs) for (const { body } of logRecords) names.push(body.stringValue)
  }
  return names.toSorted()
}
