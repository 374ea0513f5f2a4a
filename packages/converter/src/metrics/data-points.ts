import {
  AggregationTemporality,
  type Exemplar,
  type HistogramDataPoint,
  type KeyValue,
  type Metric,
  type MetricData,
  type NumberDataPoint,
  type NumberValue,
} from '@penstock/otlp'
import type { PlannedRun } from '../attributes/plan.ts'
import { attributesFrom, vendorKey } from '../base/attribute-table.ts'
import { type Measure, type Measurement, type MetricRow, metricTable } from './metric-table.ts'

/**
 * Returns the metrics of one run as `per-run` points with delta temporality, from the start of the pipeline's span to
 * its end.
 */
export function toMetrics(run: PlannedRun): Metric[] {
  const { previousExport } = run.record
  if (previousExport?.onlyJobs) return []
  const isReexport = previousExport !== undefined
  // Some measurements are emitted as two metrics, under a legacy and a semconv name. Both share the data points.
  const dataByMeasure = new Map<Measure, MetricData | undefined>()
  const metrics: Metric[] = []
  for (const row of metricTable) {
    if (isReexport && !row.onReexport) continue
    if (!dataByMeasure.has(row.measure)) dataByMeasure.set(row.measure, metricData(row, run))
    const data = dataByMeasure.get(row.measure)
    if (data === undefined) continue
    const name = vendorKey(row.name, run.options.vendorNamespace)
    metrics.push({ name, description: row.description, unit: row.unit, data, metadata: [] })
  }
  return metrics
}

/** Splits a metric with more than `maxPoints` points into several metrics of the same name, so that each fits into a request. */
export function metricParts(metric: Metric, maxPoints: number): Metric[] {
  const { data } = metric
  if (data === undefined || data.dataPoints.length <= maxPoints) return [metric]
  return Array.from({ length: Math.ceil(data.dataPoints.length / maxPoints) }, (_, part) => {
    const dataPoints = data.dataPoints.slice(part * maxPoints, (part + 1) * maxPoints)
    return { ...metric, data: { ...data, dataPoints } as MetricData }
  })
}

function metricData({ instrument, measure }: MetricRow, run: PlannedRun): MetricData | undefined {
  const measurements = measure(run)
  if (measurements.length === 0) return undefined
  const aggregationTemporality = AggregationTemporality.DELTA
  switch (instrument) {
    case 'gauge':
    case 'intGauge': {
      const tag = instrument === 'gauge' ? 'double' : 'int'
      return { type: 'gauge', dataPoints: measurements.map((measured) => numberPoint(run, measured, tag, 0n)) }
    }
    case 'counter': {
      const dataPoints = measurements.map((measured) => numberPoint(run, measured, 'int', run.times.startNs))
      return { type: 'sum', dataPoints, aggregationTemporality, isMonotonic: true }
    }
    case 'histogram': {
      const dataPoints = measurements.map((measured) => histogramPoint(run, measured))
      return { type: 'histogram', dataPoints, aggregationTemporality }
    }
  }
}

function numberPoint(run: PlannedRun, measured: Measurement, tag: 'int' | 'double', startNs: bigint): NumberDataPoint {
  const sample = measured.samples[0]!
  const value: NumberValue = tag === 'int' ? { type: 'int', value: BigInt(sample) } : { type: 'double', value: sample }
  return {
    attributes: attributesOf(run, measured),
    startTimeUnixNano: startNs,
    timeUnixNano: run.times.endNs,
    value,
    exemplars: [exemplar(run, value, run.spanId)],
    flags: 0,
  }
}

function histogramPoint(run: PlannedRun, measured: Measurement): HistogramDataPoint {
  const { samples, slowest } = measured
  const bounds = run.plan.bounds
  const bucketCounts = new Array<bigint>(bounds.length + 1).fill(0n)
  let sum = 0
  let min = Number.POSITIVE_INFINITY
  let max = Number.NEGATIVE_INFINITY
  for (const sample of samples) {
    const found = bounds.findIndex((bound) => sample <= bound)
    const bucket = found === -1 ? bounds.length : found
    bucketCounts[bucket] = bucketCounts[bucket]! + 1n
    sum += sample
    if (sample < min) min = sample
    if (sample > max) max = sample
  }
  const spanId =
    slowest === undefined ? run.spanId : run.ids.jobSpanId(run.instance, run.rootId, run.record.id, slowest)
  return {
    attributes: attributesOf(run, measured),
    startTimeUnixNano: run.times.startNs,
    timeUnixNano: run.times.endNs,
    count: BigInt(samples.length),
    sum,
    bucketCounts,
    explicitBounds: bounds,
    exemplars: [exemplar(run, { type: 'double', value: max }, spanId)],
    flags: 0,
    min,
    max,
  }
}

function attributesOf(run: PlannedRun, { dimensions }: Measurement): KeyValue[] {
  return attributesFrom(run.plan.pointAttributes, { run, ...dimensions }, run.tally)
}

/** Returns the exemplar that refers from a value to the span it was measured on. */
function exemplar(run: PlannedRun, value: NumberValue, spanId: string): Exemplar {
  return { filteredAttributes: [], timeUnixNano: run.times.endNs, value, spanId, traceId: run.traceId }
}
