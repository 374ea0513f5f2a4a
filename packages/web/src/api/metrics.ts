import { getJson, getPage, type Page, type Query } from './client.ts'
import type { WireAttribute } from './otlp-json.ts'

/** A metric in a list. */
export interface MetricName {
  readonly name: string
  /** `gauge`, `sum`, `histogram`, `exponentialHistogram` or `summary`. */
  readonly type: string
  readonly unit: string
  readonly description: string
  readonly series: number
}

export interface Exemplar {
  readonly timeUnixNano?: string
  readonly asDouble?: number
  readonly asInt?: string | number
  readonly traceId?: string
  readonly spanId?: string
}

/** A data point in OTLP/JSON. It comes from strangers, so each field may be absent. */
export interface DataPoint {
  readonly startTimeUnixNano?: string
  readonly timeUnixNano?: string
  readonly asDouble?: number
  readonly asInt?: string | number
  readonly count?: string | number
  readonly sum?: number
  readonly min?: number
  readonly max?: number
  readonly bucketCounts?: readonly (string | number)[]
  readonly explicitBounds?: readonly number[]
  readonly exemplars?: readonly Exemplar[]
}

export interface MetricSeries {
  readonly service: string
  readonly type: string
  readonly unit: string
  /** The number of the OTLP enum; null for types without temporality. */
  readonly aggregation_temporality: number | null
  readonly is_monotonic: boolean | null
  readonly attributes: readonly WireAttribute[]
  readonly points: readonly DataPoint[]
  readonly truncated: boolean
}

export interface StoredMetric {
  readonly name: string
  readonly series: readonly MetricSeries[]
  readonly truncated: boolean
}

/** Returns a page of metrics in the order of their names. */
export function listMetricNames(query: Query, signal?: AbortSignal): Promise<Page<MetricName>> {
  return getPage<MetricName>('/api/v1/observe/metric_names', query, signal)
}

/** Returns the series of a metric with their data points. */
export function getMetric(query: Query, signal?: AbortSignal): Promise<StoredMetric> {
  return getJson<StoredMetric>('/api/v1/observe/metrics', query, signal)
}
