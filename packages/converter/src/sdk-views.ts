import {
  type Attributes,
  type AttributeValue,
  type HrTime,
  type SpanContext,
  type TraceFlags,
  ValueType,
} from '@opentelemetry/api'
import { type InstrumentationScope, TraceState } from '@opentelemetry/core'
import { type Resource, resourceFromAttributes } from '@opentelemetry/resources'
import type { ReadableLogRecord } from '@opentelemetry/sdk-logs'
import {
  type DataPoint,
  DataPointType,
  type Histogram,
  type ResourceMetrics,
  type MetricData as SdkMetricData,
  AggregationTemporality as SdkTemporality,
} from '@opentelemetry/sdk-metrics'
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base'
import {
  AggregationTemporality,
  type HistogramDataPoint,
  type KeyValue,
  type Metric,
  type NumberDataPoint,
  type OtlpRequest,
  type ResourceGroup,
  type ScopeGroup,
  type Span,
  type SpanLink,
} from '@penstock/otlp'

/**
 * Returns spans as objects of the OpenTelemetry JS SDK, so that any exporter written for the SDK can send them.
 *
 * The SDK's types lose information: integers above 2^53 become the nearest double below 2^63, exemplars are dropped, and
 * an integral double cannot be distinguished from an integer.
 */
export function toReadableSpans(request: OtlpRequest<'traces'>): ReadableSpan[] {
  return request.resources.flatMap((group) => {
    const resource = resourceOf(group)
    return group.scopes.flatMap((scope) => {
      const instrumentationScope = scopeOf(scope)
      return scope.items.map((span) => readableSpan(span, resource, instrumentationScope))
    })
  })
}

/** Returns one object per resource, which is the unit that a `PushMetricExporter` accepts. */
export function toResourceMetrics(request: OtlpRequest<'metrics'>): ResourceMetrics[] {
  return request.resources.map((group) => ({
    resource: resourceOf(group),
    scopeMetrics: group.scopes.map((scope) => ({ scope: scopeOf(scope), metrics: scope.items.flatMap(metricData) })),
  }))
}

export function toReadableLogRecords(request: OtlpRequest<'logs'>): ReadableLogRecord[] {
  return request.resources.flatMap((group) => {
    const resource = resourceOf(group)
    return group.scopes.flatMap((scope) => {
      const instrumentationScope = scopeOf(scope)
      return scope.items.map((record) => ({
        hrTime: hrTime(record.timeUnixNano),
        hrTimeObserved: hrTime(record.observedTimeUnixNano),
        spanContext: { traceId: record.traceId, spanId: record.spanId, traceFlags: record.flags & 0xff },
        severityText: record.severityText,
        severityNumber: record.severityNumber,
        ...(record.body?.type === 'string' && { body: record.body.value }),
        ...(record.eventName !== '' && { eventName: record.eventName }),
        resource,
        instrumentationScope,
        attributes: attributesOf(record.attributes),
        droppedAttributesCount: record.droppedAttributesCount,
      }))
    })
  })
}

function readableSpan(span: Span, resource: Resource, instrumentationScope: InstrumentationScope): ReadableSpan {
  const context = spanContext(span, false)
  return {
    name: span.name,
    // The API counts kinds from 0, OTLP from 1.
    kind: span.kind - 1,
    spanContext: () => context,
    ...(span.parentSpanId !== '' && {
      parentSpanContext: spanContext({ ...span, spanId: span.parentSpanId }, isRemote(span.flags)),
    }),
    startTime: hrTime(span.startTimeUnixNano),
    endTime: hrTime(span.endTimeUnixNano),
    duration: hrTime(span.endTimeUnixNano - span.startTimeUnixNano),
    status: { code: span.status?.code ?? 0, ...(span.status?.message && { message: span.status.message }) },
    attributes: attributesOf(span.attributes),
    links: span.links.map((link) => ({
      context: spanContext(link, isRemote(link.flags)),
      attributes: attributesOf(link.attributes),
      droppedAttributesCount: link.droppedAttributesCount,
    })),
    events: span.events.map((event) => ({
      name: event.name,
      time: hrTime(event.timeUnixNano),
      attributes: attributesOf(event.attributes),
      droppedAttributesCount: event.droppedAttributesCount,
    })),
    ended: true,
    resource,
    instrumentationScope,
    droppedAttributesCount: span.droppedAttributesCount,
    droppedEventsCount: span.droppedEventsCount,
    droppedLinksCount: span.droppedLinksCount,
  }
}

const IS_REMOTE = 0x200
const isRemote = (flags: number): boolean => (flags & IS_REMOTE) !== 0

function spanContext(
  { traceId, spanId, traceState, flags }: Pick<SpanLink, 'traceId' | 'spanId' | 'traceState' | 'flags'>,
  remote: boolean,
): SpanContext {
  return {
    traceId,
    spanId,
    traceFlags: (flags & 0xff) as TraceFlags,
    isRemote: remote,
    ...(traceState !== '' && { traceState: new TraceState(traceState) }),
  }
}

function metricData(metric: Metric): SdkMetricData[] {
  const { data } = metric
  const { name, description, unit } = metric
  switch (data?.type) {
    case 'gauge': {
      const descriptor = { name, description, unit, valueType: valueTypeOf(data.dataPoints) }
      const dataPoints = data.dataPoints.map(numberPoint)
      // A gauge has no temporality, but the SDK's type requires one.
      const aggregationTemporality = SdkTemporality.CUMULATIVE
      return [{ descriptor, aggregationTemporality, dataPointType: DataPointType.GAUGE, dataPoints }]
    }
    case 'sum': {
      const { isMonotonic } = data
      const descriptor = { name, description, unit, valueType: valueTypeOf(data.dataPoints) }
      const aggregationTemporality = temporalityOf(data.aggregationTemporality)
      const dataPoints = data.dataPoints.map(numberPoint)
      return [{ descriptor, aggregationTemporality, dataPointType: DataPointType.SUM, isMonotonic, dataPoints }]
    }
    case 'histogram': {
      const descriptor = { name, description, unit, valueType: ValueType.DOUBLE }
      const aggregationTemporality = temporalityOf(data.aggregationTemporality)
      const dataPoints = data.dataPoints.map(histogramPoint)
      return [{ descriptor, aggregationTemporality, dataPointType: DataPointType.HISTOGRAM, dataPoints }]
    }
    default:
      return []
  }
}

const temporalityOf = (temporality: number): SdkTemporality =>
  temporality === AggregationTemporality.DELTA ? SdkTemporality.DELTA : SdkTemporality.CUMULATIVE

const valueTypeOf = (points: readonly NumberDataPoint[]): ValueType =>
  points.every((point) => point.value?.type === 'int') ? ValueType.INT : ValueType.DOUBLE

function numberPoint(point: NumberDataPoint): DataPoint<number> {
  const { value } = point
  return { ...pointFrame(point), value: value?.type === 'int' ? numberOf(value.value) : (value?.value ?? 0) }
}

function histogramPoint(point: HistogramDataPoint): DataPoint<Histogram> {
  const value: Histogram = {
    buckets: { boundaries: [...point.explicitBounds], counts: point.bucketCounts.map(Number) },
    count: Number(point.count),
    ...(point.sum !== undefined && { sum: point.sum }),
    ...(point.min !== undefined && { min: point.min }),
    ...(point.max !== undefined && { max: point.max }),
  }
  return { ...pointFrame(point), value }
}

function pointFrame(point: NumberDataPoint | HistogramDataPoint) {
  return {
    startTime: hrTime(point.startTimeUnixNano),
    endTime: hrTime(point.timeUnixNano),
    attributes: attributesOf(point.attributes),
  }
}

/** Returns `[seconds, nanoseconds]`. */
function hrTime(ns: bigint): HrTime {
  return [Number(ns / 1_000_000_000n), Number(ns % 1_000_000_000n)]
}

const resourceOf = <Item>(group: ResourceGroup<Item>): Resource =>
  resourceFromAttributes(attributesOf(group.resource.attributes), { schemaUrl: group.schemaUrl })

const scopeOf = <Item>({ scope, schemaUrl }: ScopeGroup<Item>): InstrumentationScope => ({
  name: scope.name,
  version: scope.version,
  schemaUrl,
})

/**
 * Returns the integer as a double. The largest int64 values round to 2^63, which is not an int64: JSON exporters would
 * write it, and a Collector would reject the whole request.
 */
const numberOf = (int64: bigint): number => Math.min(Number(int64), LARGEST_INT64_DOUBLE)
const LARGEST_INT64_DOUBLE = 2 ** 63 - 1024

function attributesOf(attributes: readonly KeyValue[]): Attributes {
  return Object.fromEntries(attributes.map((attribute) => [attribute.key, attributeValue(attribute)]))
}

function attributeValue(attribute: KeyValue): AttributeValue | undefined {
  switch (attribute.type) {
    case 'string':
    case 'bool':
    case 'double':
      return attribute.value
    case 'int':
      return numberOf(attribute.value)
    case 'array':
      return attribute.value.map((element) => String(element.value))
    default:
      return undefined
  }
}
