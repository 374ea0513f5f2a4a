import { onTestFinished } from 'vitest'
import { type Collector, startCollector } from '../collector/collector.ts'
import type { Signal } from '../collector/exported-file.ts'
import { freePort } from '../collector/free-port.ts'
import { exportBody, type Telemetry } from '../gateway/telemetry.ts'

/** One exporter of a real collector that sends to the gateway. */
export interface CollectorExporter {
  /** The id of the exporter in its collector and its log. */
  readonly id: string
  readonly protocol: 'http/json' | 'http/protobuf' | 'grpc'
  readonly compression: 'none' | 'gzip' | 'zstd'
  /** The endpoint `http://host:port` without a path. */
  readonly endpoint: string
  readonly token?: string | undefined
  /** The timeout of one attempt. Default 10 s. */
  readonly timeoutMs?: number
  /** The `initial_interval` of `retry_on_failure`. Default 1 s. */
  readonly retryMs?: number
}

export interface CollectorClient {
  readonly collector: Collector
  /** Makes the exporter with this id export an item, through its own OTLP receiver. */
  export(id: string, telemetry: Telemetry & { readonly signal: Signal }): Promise<void>
}

/** Starts a collector with one pipeline of every signal for each exporter. It is stopped with the test. */
export async function startCollectorClient(exporters: readonly CollectorExporter[]): Promise<CollectorClient> {
  const ports = new Map<string, number>()
  for (const { id } of exporters) ports.set(id, await freePort())
  const collector = await startCollector({ config: { yaml: JSON.stringify(configOf(exporters, ports)) } })
  onTestFinished(() => collector.stop())
  return {
    collector,
    async export(id, telemetry) {
      const { signal } = telemetry
      const response = await fetch(`http://127.0.0.1:${ports.get(id)}/v1/${signal}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: Uint8Array.from(exportBody(telemetry, 'json')),
      })
      if (response.status !== 200) throw new Error(`${id} took no ${signal}: ${response.status}`)
    },
  }
}

/** The name of the exporter in the configuration and in the log. */
export const componentOf = ({ id, protocol }: Pick<CollectorExporter, 'id' | 'protocol'>): string =>
  `${protocol === 'grpc' ? 'otlp_grpc' : 'otlp_http'}/${id}`

function configOf(exporters: readonly CollectorExporter[], ports: ReadonlyMap<string, number>): object {
  const pipelines = exporters.flatMap((exporter) =>
    ['traces', 'metrics', 'logs'].map((signal) => [
      `${signal}/${exporter.id}`,
      { receivers: [`otlp/${exporter.id}`], exporters: [componentOf(exporter)] },
    ]),
  )
  return {
    receivers: Object.fromEntries(
      [...ports].map(([id, port]) => [`otlp/${id}`, { protocols: { http: { endpoint: `127.0.0.1:${port}` } } }]),
    ),
    exporters: Object.fromEntries(exporters.map((exporter) => [componentOf(exporter), settingsOf(exporter)])),
    service: {
      pipelines: Object.fromEntries(pipelines),
      // By default the log leaves out most lines with the same text, even from different exporters.
      telemetry: { logs: { sampling: { enabled: false } } },
    },
  }
}

function settingsOf({
  protocol,
  compression,
  endpoint,
  token,
  timeoutMs = 10_000,
  retryMs = 1_000,
}: CollectorExporter) {
  const encoding = { 'http/json': { encoding: 'json' }, 'http/protobuf': { encoding: 'proto' }, grpc: {} }[protocol]
  return {
    endpoint: protocol === 'grpc' ? new URL(endpoint).host : endpoint,
    tls: { insecure: true },
    compression,
    timeout: `${timeoutMs}ms`,
    retry_on_failure: { initial_interval: `${retryMs}ms` },
    ...encoding,
    ...(token !== undefined && { headers: { authorization: `Bearer ${token}` } }),
  }
}
