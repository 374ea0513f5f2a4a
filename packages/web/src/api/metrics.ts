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

/** The sums of a counter, or quantiles of a histogram, per interval over series. */
export interface MetricIntervals {
  readonly name: string
  readonly type: 'sum' | 'histogram' | null
  readonly interval_seconds: number
  /** The keys of attributes with several values. */
  readonly group_keys: readonly string[]
  /** The largest groups first. */
  readonly groups: readonly MetricGroup[]
  readonly groups_left_out: number
  readonly truncated: boolean
}

export interface MetricGroup {
  readonly service: string | null
  readonly attributes: readonly { readonly key: string; readonly value: string }[]
  readonly total: number
  readonly intervals: readonly {
    readonly start_time_unix_nano: string
    readonly amount: number
    readonly p50: number | null
    readonly p95: number | null
  }[]
}

/** Returns a page of metrics in the order of their names. */
export function listMetricNames(query: Query, signal?: AbortSignal): Promise<Page<MetricName>> {
  return getPage<MetricName>('/api/v1/observe/metric_names', query, signal)
}

/** Returns the series of a metric with their data points. */
export function getMetric(query: Query, signal?: AbortSignal): Promise<StoredMetric> {
  return getJson<StoredMetric>('/api/v1/observe/metrics', query, signal)
}

/** Returns the counters or histograms of a metric by interval. */
export function getMetricIntervals(query: Query, signal?: AbortSignal): Promise<MetricIntervals> {
  return getJson<MetricIntervals>('/api/v1/observe/metric_intervals', query, signal)
}
