/**
 * The OTLP model of opentelemetry/proto/{common,resource,trace,metrics,logs}/v1, proto 1.9, as TypeScript data.
 *
 * Conventions, so that two decodings of one message are deeply equal:
 * - a field without presence in proto3 is always set; its default ('' / 0 / 0n / []) means "not set";
 * - a field with presence (`optional`, oneof members, sub-messages) is `undefined` if it is not set;
 * - ids are lower-case hex strings, '' when not set; 64-bit integers and nanoseconds are BigInt.
 */

/** The three signals. `signals.ts` has a row for each. */
export type Signal = 'traces' | 'metrics' | 'logs'

/** common.v1.AnyValue. `type` selects the wire variant, so 3 and 3.5 both stay doubles. `empty` is OTLP's null. */
export type AnyValue =
  | { readonly type: 'string'; readonly value: string }
  | { readonly type: 'bool'; readonly value: boolean }
  | { readonly type: 'int'; readonly value: bigint }
  | { readonly type: 'double'; readonly value: number }
  | { readonly type: 'bytes'; readonly value: Uint8Array }
  | { readonly type: 'array'; readonly value: readonly AnyValue[] }
  | { readonly type: 'kvlist'; readonly value: readonly KeyValue[] }
  | { readonly type: 'empty'; readonly value: undefined }

/** common.v1.KeyValue, flattened: one object per attribute instead of two. */
export type KeyValue = AnyValue & { readonly key: string }

export interface InstrumentationScope {
  readonly name: string
  readonly version: string
  readonly attributes: readonly KeyValue[]
  readonly droppedAttributesCount: number
}

export interface Resource {
  readonly attributes: readonly KeyValue[]
  readonly droppedAttributesCount: number
}

/** trace.v1.Span.SpanKind */
export const SpanKind = { UNSPECIFIED: 0, INTERNAL: 1, SERVER: 2, CLIENT: 3, PRODUCER: 4, CONSUMER: 5 } as const
/** trace.v1.Status.StatusCode */
export const StatusCode = { UNSET: 0, OK: 1, ERROR: 2 } as const
/** metrics.v1.AggregationTemporality */
export const AggregationTemporality = { UNSPECIFIED: 0, DELTA: 1, CUMULATIVE: 2 } as const

export interface Span {
  readonly traceId: string
  readonly spanId: string
  readonly traceState: string
  /** '' for a root span. */
  readonly parentSpanId: string
  /** Low 8 bits: W3C trace flags; bit 8: is_remote known; bit 9: parent is remote. */
  readonly flags: number
  readonly name: string
  /** A value of `SpanKind`. Unknown numbers are kept. */
  readonly kind: number
  readonly startTimeUnixNano: bigint
  readonly endTimeUnixNano: bigint
  readonly attributes: readonly KeyValue[]
  readonly droppedAttributesCount: number
  readonly events: readonly SpanEvent[]
  readonly droppedEventsCount: number
  readonly links: readonly SpanLink[]
  readonly droppedLinksCount: number
  readonly status: SpanStatus | undefined
}

export interface SpanEvent {
  readonly timeUnixNano: bigint
  readonly name: string
  readonly attributes: readonly KeyValue[]
  readonly droppedAttributesCount: number
}

export interface SpanLink {
  readonly traceId: string
  readonly spanId: string
  readonly traceState: string
  readonly attributes: readonly KeyValue[]
  readonly droppedAttributesCount: number
  readonly flags: number
}

export interface SpanStatus {
  readonly message: string
  /** A value of `StatusCode`. */
  readonly code: number
}

export interface LogRecord {
  readonly timeUnixNano: bigint
  readonly observedTimeUnixNano: bigint
  readonly severityNumber: number
  readonly severityText: string
  readonly body: AnyValue | undefined
  readonly attributes: readonly KeyValue[]
  readonly droppedAttributesCount: number
  readonly flags: number
  readonly traceId: string
  readonly spanId: string
  readonly eventName: string
}

export interface Metric {
  readonly name: string
  readonly description: string
  readonly unit: string
  readonly data: MetricData | undefined
  readonly metadata: readonly KeyValue[]
}

export type MetricData =
  | { readonly type: 'gauge'; readonly dataPoints: readonly NumberDataPoint[] }
  | {
      readonly type: 'sum'
      readonly dataPoints: readonly NumberDataPoint[]
      readonly aggregationTemporality: number
      readonly isMonotonic: boolean
    }
  | {
      readonly type: 'histogram'
      readonly dataPoints: readonly HistogramDataPoint[]
      readonly aggregationTemporality: number
    }
  | {
      readonly type: 'exponentialHistogram'
      readonly dataPoints: readonly ExponentialHistogramDataPoint[]
      readonly aggregationTemporality: number
    }
  | { readonly type: 'summary'; readonly dataPoints: readonly SummaryDataPoint[] }

/** The `value` oneof of number points and exemplars. */
export type NumberValue =
  | { readonly type: 'int'; readonly value: bigint }
  | { readonly type: 'double'; readonly value: number }

export interface NumberDataPoint {
  readonly attributes: readonly KeyValue[]
  readonly startTimeUnixNano: bigint
  readonly timeUnixNano: bigint
  readonly value: NumberValue | undefined
  readonly exemplars: readonly Exemplar[]
  readonly flags: number
}

export interface HistogramDataPoint {
  readonly attributes: readonly KeyValue[]
  readonly startTimeUnixNano: bigint
  readonly timeUnixNano: bigint
  readonly count: bigint
  readonly sum: number | undefined
  /** Contains one element more than `explicitBounds`, or is empty. */
  readonly bucketCounts: readonly bigint[]
  /** Inclusive upper bounds, ascending. */
  readonly explicitBounds: readonly number[]
  readonly exemplars: readonly Exemplar[]
  readonly flags: number
  readonly min: number | undefined
  readonly max: number | undefined
}

export interface ExponentialHistogramDataPoint {
  readonly attributes: readonly KeyValue[]
  readonly startTimeUnixNano: bigint
  readonly timeUnixNano: bigint
  readonly count: bigint
  readonly sum: number | undefined
  readonly scale: number
  readonly zeroCount: bigint
  readonly positive: ExponentialBuckets | undefined
  readonly negative: ExponentialBuckets | undefined
  readonly flags: number
  readonly exemplars: readonly Exemplar[]
  readonly min: number | undefined
  readonly max: number | undefined
  readonly zeroThreshold: number
}

export interface ExponentialBuckets {
  readonly offset: number
  readonly bucketCounts: readonly bigint[]
}

export interface SummaryDataPoint {
  readonly attributes: readonly KeyValue[]
  readonly startTimeUnixNano: bigint
  readonly timeUnixNano: bigint
  readonly count: bigint
  readonly sum: number
  readonly quantileValues: readonly { readonly quantile: number; readonly value: number }[]
  readonly flags: number
}

export interface Exemplar {
  readonly filteredAttributes: readonly KeyValue[]
  readonly timeUnixNano: bigint
  readonly value: NumberValue | undefined
  readonly spanId: string
  readonly traceId: string
}

export interface ItemBySignal {
  traces: Span
  metrics: Metric
  logs: LogRecord
}

/**
 * An ExportTraceServiceRequest, ExportMetricsServiceRequest or ExportLogsServiceRequest. The three messages differ only
 * in the type of the innermost list and in field names (`signals.ts`), so one type is sufficient.
 */
export interface OtlpRequest<S extends Signal = Signal> {
  readonly resources: readonly ResourceGroup<ItemBySignal[S]>[]
}

/** ResourceSpans, ResourceMetrics or ResourceLogs. */
export interface ResourceGroup<Item> {
  readonly resource: Resource
  readonly scopes: readonly ScopeGroup<Item>[]
  readonly schemaUrl: string
}

/** ScopeSpans, ScopeMetrics or ScopeLogs. */
export interface ScopeGroup<Item> {
  readonly scope: InstrumentationScope
  readonly items: readonly Item[]
  readonly schemaUrl: string
}
