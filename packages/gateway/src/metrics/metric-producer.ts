import { type HrTime, ValueType } from '@opentelemetry/api'
import type { Resource } from '@opentelemetry/resources'
import {
  AggregationTemporality,
  type DataPoint,
  DataPointType,
  type MetricData,
  type MetricProducer,
} from '@opentelemetry/sdk-metrics'
import { type Instrument, type InstrumentName, instruments } from './instruments.ts'
import { mergeReports, seriesKey } from './merge-reports.ts'
import type { MetricsReport } from './registry.ts'

interface MetricSource {
  readonly resource: Resource
  readonly scope: { readonly name: string; readonly version: string }
  /** The time since which the reports count. */
  readonly startMs: number
  readonly nowMs: () => number
  /** Returns the reports of all processes. */
  readonly reports: () => Promise<readonly MetricsReport[]>
}

interface Series {
  readonly startMs: number
  /** The value of a counter or the count of a histogram. It never falls unless the series restarts. */
  readonly total: number
}

/**
 * Returns the gateway's series for the OpenTelemetry SDK, cumulative.
 *
 * The start time of a series is the time of the last collection before the series appeared. If its total has fallen,
 * because a process ended or a token was renamed, the series starts again at the time of the previous collection.
 *
 * @see OTLP metrics.proto, start_time_unix_nano
 */
export function metricProducer(source: MetricSource): MetricProducer {
  let known = new Map<string, Series>()
  let collectedMs = source.startMs

  return {
    async collect() {
      const { cells, histograms } = mergeReports(await source.reports())
      const nowMs = source.nowMs()
      const seen = new Map<string, Series>()
      const startOf = (series: { name: InstrumentName; labels: object }, total: number): HrTime => {
        const key = seriesKey(series as Parameters<typeof seriesKey>[0])
        const before = known.get(key)
        const startMs = before === undefined || total < before.total ? collectedMs : before.startMs
        seen.set(key, { startMs, total })
        return hrTime(startMs)
      }
      const endTime = hrTime(nowMs)

      const points = new Map<InstrumentName, DataPoint<unknown>[]>()
      const add = (name: InstrumentName, point: DataPoint<unknown>) => {
        const others = points.get(name)
        if (others === undefined) points.set(name, [point])
        else others.push(point)
      }
      for (const cell of cells) {
        const { name, labels, value } = cell
        const startTime = instruments[name].kind === 'counter' ? startOf(cell, value) : endTime
        add(name, { startTime, endTime, attributes: labels, value })
      }
      for (const histogram of histograms) {
        const { name, labels, counts, sum } = histogram
        const count = counts.reduce((total, each) => total + each, 0)
        const buckets = { boundaries: [...(instruments[name].bounds ?? [])], counts: [...counts] }
        const value = { buckets, sum, count }
        add(name, { startTime: startOf(histogram, count), endTime, attributes: labels, value })
      }
      known = seen
      collectedMs = nowMs

      const metrics = [...points].map(([name, dataPoints]) => metricData(name, instruments[name], dataPoints))
      return {
        resourceMetrics: { resource: source.resource, scopeMetrics: [{ scope: source.scope, metrics }] },
        errors: [],
      }
    },
  }
}

const pointType = {
  counter: DataPointType.SUM,
  gauge: DataPointType.GAUGE,
  histogram: DataPointType.HISTOGRAM,
} as const satisfies Record<Instrument['kind'], DataPointType>

function metricData(name: InstrumentName, { kind, unit, description }: Instrument, dataPoints: DataPoint<unknown>[]) {
  return {
    descriptor: { name, description, unit, valueType: unit === 's' ? ValueType.DOUBLE : ValueType.INT },
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
    dataPointType: pointType[kind],
    ...(kind === 'counter' && { isMonotonic: true }),
    dataPoints,
  } as MetricData
}

const hrTime = (ms: number): HrTime => [Math.floor(ms / 1000), Math.round((ms % 1000) * 1_000_000)]
