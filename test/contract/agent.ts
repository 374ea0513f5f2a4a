import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  contentTypes,
  decodeExportResponse,
  decodeRequest,
  encodeRequest,
  type HistogramDataPoint,
  type Metric,
  type NumberDataPoint,
  type OtlpRequest,
  type Signal,
} from '@penstock/otlp'
import { expect } from 'vitest'
import { type Collector, type CollectorStart, startCollector } from '../collector/collector.ts'
import { waitForExported } from '../collector/exported-file.ts'
import { freePort } from '../collector/free-port.ts'
import { parsePrometheusText, type Sample } from './prometheus-text.ts'

const agentConfig = join(import.meta.dirname, '../../collector-config/agent.yaml')

/** A collector with the published configuration `collector-config/agent.yaml`. */
export interface Agent {
  readonly collector: Collector
  /** Sends one request, and fails the test if it is not accepted. */
  send<S extends Signal>(signal: S, request: OtlpRequest<S>): Promise<void>
  /** Waits until the collector has written `items` spans, data points or log records, and returns the written requests. */
  received<S extends Signal>(signal: S, items: number): Promise<OtlpRequest<S>[]>
  /** Waits until the collector has written `points` points of its cumulative totals, and returns the written requests. */
  totals(points: number): Promise<OtlpRequest<'metrics'>[]>
  /** Returns the samples that Prometheus would scrape. */
  scrape(): Promise<Sample[]>
  stop(): Promise<void>
}

export async function startAgent({ ownMetrics = false }: Pick<CollectorStart, 'ownMetrics'> = {}): Promise<Agent> {
  const directory = await mkdtemp(join(tmpdir(), 'agent-'))
  const telemetryFile = join(directory, 'telemetry.jsonl')
  const totalsFile = join(directory, 'totals.jsonl')
  const prometheusAddress = `127.0.0.1:${await freePort()}`
  const collector = await startCollector({
    config: { file: agentConfig },
    ownMetrics,
    env: {
      COLLECTOR_FILE: telemetryFile,
      COLLECTOR_CUMULATIVE_FILE: totalsFile,
      COLLECTOR_PROMETHEUS_ENDPOINT: prometheusAddress,
    },
  })
  return {
    collector,
    async send(signal, request) {
      const response = await fetch(`${collector.httpEndpoint}/v1/${signal}`, {
        method: 'POST',
        headers: { 'content-type': contentTypes.protobuf },
        body: Buffer.from(encodeRequest(signal, request, 'protobuf')),
      })
      const answer = decodeExportResponse(signal, new Uint8Array(await response.arrayBuffer()), 'protobuf')
      expect([response.status, answer]).toEqual([200, undefined])
    },
    received: async (signal, items) => decoded(signal, await waitForExported(telemetryFile, signal, items)),
    totals: async (points) => decoded('metrics', await waitForExported(totalsFile, 'metrics', points)),
    scrape: async () => parsePrometheusText(await (await fetch(`http://${prometheusAddress}/metrics`)).text()),
    async stop() {
      await collector.stop()
      await rm(directory, { recursive: true })
    },
  }
}

/** Decodes the lines of the file exporter, which writes one request per line in OTLP/JSON. */
export function decoded<S extends Signal>(signal: S, lines: readonly string[]): OtlpRequest<S>[] {
  return lines.map((line) => decodeRequest(signal, Buffer.from(line), 'json'))
}

/** Counts the spans, log records or data points of a request, as a collector counts items. */
export function itemCount({ resources }: OtlpRequest): number {
  const items = resources.flatMap(({ scopes }) => scopes.flatMap((scope) => scope.items))
  return items.reduce((sum, item) => sum + ('data' in item ? pointsOf(item).length : 1), 0)
}

export function pointsOf({ data }: Metric): readonly (NumberDataPoint | HistogramDataPoint)[] {
  if (data?.type === 'gauge' || data?.type === 'sum' || data?.type === 'histogram') return data.dataPoints
  throw new Error(`a metric of ${data?.type}`)
}
