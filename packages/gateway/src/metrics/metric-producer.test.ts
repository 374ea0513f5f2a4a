import { resourceFromAttributes } from '@opentelemetry/resources'
import { AggregationTemporality, DataPointType } from '@opentelemetry/sdk-metrics'
import { expect, test } from 'vitest'
import { metricProducer } from './metric-producer.ts'
import { MetricRegistry, type MetricsReport } from './registry.ts'

function collecting(reports: () => readonly MetricsReport[]) {
  let nowMs = 10_000
  const producer = metricProducer({
    resource: resourceFromAttributes({}),
    scope: { name: 'test', version: '' },
    startMs: 1_500,
    nowMs: () => nowMs,
    reports: async () => reports(),
  })
  return async (atMs: number) => {
    nowMs = atMs
    const { resourceMetrics } = await producer.collect()
    return resourceMetrics.scopeMetrics[0]!.metrics
  }
}

test('converts kinds, units and times of the instruments', async () => {
  const registry = new MetricRegistry()
  registry.cell('otelcol_receiver_client_aborted', { transport: 'http' }).value = 3
  registry.cell('otelcol_ingestauth_snapshot_age_seconds').value = 1.5
  registry.record('otelcol_ingestauth_coalesced_requests', {}, 4)

  expect(await collecting(() => [registry.report()])(10_250)).toMatchObject([
    {
      descriptor: { name: 'otelcol_receiver_client_aborted', unit: '{requests}', valueType: 0 },
      aggregationTemporality: AggregationTemporality.CUMULATIVE,
      dataPointType: DataPointType.SUM,
      isMonotonic: true,
      dataPoints: [
        { startTime: [1, 500_000_000], endTime: [10, 250_000_000], attributes: { transport: 'http' }, value: 3 },
      ],
    },
    {
      descriptor: { name: 'otelcol_ingestauth_snapshot_age_seconds', unit: 's', valueType: 1 },
      dataPointType: DataPointType.GAUGE,
      dataPoints: [{ endTime: [10, 250_000_000], value: 1.5 }],
    },
    {
      dataPointType: DataPointType.HISTOGRAM,
      dataPoints: [
        {
          startTime: [1, 500_000_000],
          value: {
            count: 1,
            sum: 4,
            buckets: { boundaries: [1, 2, 4, 8, 16, 32, 64], counts: [0, 0, 1, 0, 0, 0, 0, 0] },
          },
        },
      ],
    },
  ])
})

test('a series keeps its start time; a new one, or one with a lower total, starts at the previous collection', async () => {
  const cell = (transport: string, value: number) =>
    ({ name: 'otelcol_receiver_client_aborted', labels: { transport }, value }) as const
  let cells = [cell('http', 5)]
  const collect = collecting(() => [{ cells, histograms: [] }])
  const startSeconds = async (atMs: number) => {
    const [metric] = await collect(atMs)
    return metric!.dataPoints.map(({ attributes, startTime }) => [attributes.transport, startTime[0]])
  }

  expect(await startSeconds(10_000)).toEqual([['http', 1]])
  cells = [cell('http', 6), cell('grpc', 1)]
  expect(await startSeconds(20_000)).toEqual([
    ['http', 1],
    ['grpc', 10],
  ])
  cells = [cell('http', 2), cell('grpc', 1)]
  expect(await startSeconds(30_000)).toEqual([
    ['http', 20],
    ['grpc', 10],
  ])
})
