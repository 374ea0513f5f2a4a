import { signals } from '../model/signals.ts'
import type {
  Exemplar,
  ExponentialBuckets,
  ExponentialHistogramDataPoint,
  HistogramDataPoint,
  InstrumentationScope,
  ItemBySignal,
  LogRecord,
  Metric,
  MetricData,
  NumberDataPoint,
  NumberValue,
  OtlpRequest,
  Resource,
  ResourceGroup,
  ScopeGroup,
  Signal,
  Span,
  SpanEvent,
  SpanLink,
  SpanStatus,
  SummaryDataPoint,
} from '../model/types.ts'
import {
  anyValue,
  attributes,
  type Field,
  list,
  type Message,
  message,
  messageOneof,
  optional,
  packed,
  required,
  scalar,
  scalarOneof,
} from './field.ts'

/**
 * The tables of all OTLP messages of opentelemetry-proto 1.9: field numbers, wire kinds, JSON names. The compiler checks
 * that every property of the model is in its table.
 *
 * KeyValue and AnyValue are plain constants, because hot hand-written code in `*-attributes.ts` uses them.
 */

/** The members of the oneof in common.v1.AnyValue. */
export const anyValueArms = {
  string: { number: 1, json: 'stringValue' },
  bool: { number: 2, json: 'boolValue' },
  int: { number: 3, json: 'intValue' },
  double: { number: 4, json: 'doubleValue' },
  array: { number: 5, json: 'arrayValue' },
  kvlist: { number: 6, json: 'kvlistValue' },
  bytes: { number: 7, json: 'bytesValue' },
} as const

/** The fields of common.v1.KeyValue. */
export const keyValueFields = { key: { number: 1, json: 'key' }, value: { number: 2, json: 'value' } } as const

/** The only field of common.v1.ArrayValue and of common.v1.KeyValueList. */
export const valuesField = { number: 1, json: 'values' } as const

const resource = message<Resource>('Resource', {
  attributes: attributes(1),
  droppedAttributesCount: scalar(2, 'uint32'),
})

const instrumentationScope = message<InstrumentationScope>('InstrumentationScope', {
  name: scalar(1, 'string'),
  version: scalar(2, 'string'),
  attributes: attributes(3),
  droppedAttributesCount: scalar(4, 'uint32'),
})

/** The resource and scope of a group that has none. They are not encoded. */
export const emptyResource: Resource = { attributes: [], droppedAttributesCount: 0 }
export const emptyScope: InstrumentationScope = { name: '', version: '', attributes: [], droppedAttributesCount: 0 }

const spanEvent = message<SpanEvent>('Span.Event', {
  timeUnixNano: scalar(1, 'fixed64'),
  name: scalar(2, 'string'),
  attributes: attributes(3),
  droppedAttributesCount: scalar(4, 'uint32'),
})

const spanLink = message<SpanLink>('Span.Link', {
  traceId: scalar(1, 'traceId'),
  spanId: scalar(2, 'spanId'),
  traceState: scalar(3, 'string'),
  attributes: attributes(4),
  droppedAttributesCount: scalar(5, 'uint32'),
  flags: scalar(6, 'fixed32'),
})

const spanStatus = message<SpanStatus>('Status', {
  message: scalar(2, 'string'),
  code: scalar(3, 'enum'),
})

const span = message<Span>('Span', {
  traceId: scalar(1, 'traceId'),
  spanId: scalar(2, 'spanId'),
  traceState: scalar(3, 'string'),
  parentSpanId: scalar(4, 'spanId'),
  flags: scalar(16, 'fixed32'),
  name: scalar(5, 'string'),
  kind: scalar(6, 'enum'),
  startTimeUnixNano: scalar(7, 'fixed64'),
  endTimeUnixNano: scalar(8, 'fixed64'),
  attributes: attributes(9),
  droppedAttributesCount: scalar(10, 'uint32'),
  events: list(11, spanEvent),
  droppedEventsCount: scalar(12, 'uint32'),
  links: list(13, spanLink),
  droppedLinksCount: scalar(14, 'uint32'),
  status: optional(15, spanStatus),
})

const logRecord = message<LogRecord>('LogRecord', {
  timeUnixNano: scalar(1, 'fixed64'),
  observedTimeUnixNano: scalar(11, 'fixed64'),
  severityNumber: scalar(2, 'enum'),
  severityText: scalar(3, 'string'),
  body: anyValue(5),
  attributes: attributes(6),
  droppedAttributesCount: scalar(7, 'uint32'),
  flags: scalar(8, 'fixed32'),
  traceId: scalar(9, 'traceId'),
  spanId: scalar(10, 'spanId'),
  eventName: scalar(12, 'string'),
})

/** Returns the oneof `value`, which NumberDataPoint and Exemplar both have. Only the field number of `asDouble` differs. */
function numberValue(numbers: { asDouble: number; asInt: number }): Field<NumberValue | undefined> {
  return scalarOneof<NumberValue>(
    { type: 'double', number: numbers.asDouble, kind: 'double', json: 'asDouble' },
    { type: 'int', number: numbers.asInt, kind: 'sfixed64', json: 'asInt' },
  )
}

const exemplar = message<Exemplar>('Exemplar', {
  filteredAttributes: attributes(7),
  timeUnixNano: scalar(2, 'fixed64'),
  value: numberValue({ asDouble: 3, asInt: 6 }),
  spanId: scalar(4, 'spanId'),
  traceId: scalar(5, 'traceId'),
})

const numberDataPoint = message<NumberDataPoint>('NumberDataPoint', {
  attributes: attributes(7),
  startTimeUnixNano: scalar(2, 'fixed64'),
  timeUnixNano: scalar(3, 'fixed64'),
  value: numberValue({ asDouble: 4, asInt: 6 }),
  exemplars: list(5, exemplar),
  flags: scalar(8, 'uint32'),
})

const histogramDataPoint = message<HistogramDataPoint>('HistogramDataPoint', {
  attributes: attributes(9),
  startTimeUnixNano: scalar(2, 'fixed64'),
  timeUnixNano: scalar(3, 'fixed64'),
  count: scalar(4, 'fixed64'),
  sum: scalar(5, 'optionalDouble'),
  bucketCounts: packed(6, 'fixed64'),
  explicitBounds: packed(7, 'double'),
  exemplars: list(8, exemplar),
  flags: scalar(10, 'uint32'),
  min: scalar(11, 'optionalDouble'),
  max: scalar(12, 'optionalDouble'),
})

const exponentialBuckets = message<ExponentialBuckets>('ExponentialHistogramDataPoint.Buckets', {
  offset: scalar(1, 'sint32'),
  bucketCounts: packed(2, 'uint64'),
})

const exponentialHistogramDataPoint = message<ExponentialHistogramDataPoint>('ExponentialHistogramDataPoint', {
  attributes: attributes(1),
  startTimeUnixNano: scalar(2, 'fixed64'),
  timeUnixNano: scalar(3, 'fixed64'),
  count: scalar(4, 'fixed64'),
  sum: scalar(5, 'optionalDouble'),
  scale: scalar(6, 'sint32'),
  zeroCount: scalar(7, 'fixed64'),
  positive: optional(8, exponentialBuckets),
  negative: optional(9, exponentialBuckets),
  flags: scalar(10, 'uint32'),
  exemplars: list(11, exemplar),
  min: scalar(12, 'optionalDouble'),
  max: scalar(13, 'optionalDouble'),
  zeroThreshold: scalar(14, 'double'),
})

const valueAtQuantile = message<SummaryDataPoint['quantileValues'][number]>('SummaryDataPoint.ValueAtQuantile', {
  quantile: scalar(1, 'double'),
  value: scalar(2, 'double'),
})

const summaryDataPoint = message<SummaryDataPoint>('SummaryDataPoint', {
  attributes: attributes(7),
  startTimeUnixNano: scalar(2, 'fixed64'),
  timeUnixNano: scalar(3, 'fixed64'),
  count: scalar(4, 'fixed64'),
  sum: scalar(5, 'double'),
  quantileValues: list(6, valueAtQuantile),
  flags: scalar(8, 'uint32'),
})

type DataOf<Type> = Extract<MetricData, { readonly type: Type }>

const metric = message<Metric>('Metric', {
  name: scalar(1, 'string'),
  description: scalar(2, 'string'),
  unit: scalar(3, 'string'),
  data: messageOneof<MetricData>({
    gauge: [5, message<DataOf<'gauge'>>('Gauge', { dataPoints: list(1, numberDataPoint) })],
    sum: [
      7,
      message<DataOf<'sum'>>('Sum', {
        dataPoints: list(1, numberDataPoint),
        aggregationTemporality: scalar(2, 'enum'),
        isMonotonic: scalar(3, 'bool'),
      }),
    ],
    histogram: [
      9,
      message<DataOf<'histogram'>>('Histogram', {
        dataPoints: list(1, histogramDataPoint),
        aggregationTemporality: scalar(2, 'enum'),
      }),
    ],
    exponentialHistogram: [
      10,
      message<DataOf<'exponentialHistogram'>>('ExponentialHistogram', {
        dataPoints: list(1, exponentialHistogramDataPoint),
        aggregationTemporality: scalar(2, 'enum'),
      }),
    ],
    summary: [11, message<DataOf<'summary'>>('Summary', { dataPoints: list(1, summaryDataPoint) })],
  }),
  metadata: attributes(12),
})

/** The four levels of the request of one signal. */
interface SignalSchema<S extends Signal> {
  readonly request: Message<OtlpRequest<S>>
  readonly resourceGroup: Message<ResourceGroup<ItemBySignal[S]>>
  readonly scopeGroup: Message<ScopeGroup<ItemBySignal[S]>>
  readonly item: Message<ItemBySignal[S]>
}

/** The field numbers of the three nested lists, which are the same in all signals. */
export const listNumbers = { resources: 1, scopes: 2, items: 2 } as const

function signalSchema<S extends Signal>(signal: S, item: Message<ItemBySignal[S]>): SignalSchema<S> {
  const { json } = signals[signal]
  const scopeGroup = message<ScopeGroup<ItemBySignal[S]>>(json.scopes, {
    scope: required(1, instrumentationScope),
    items: list(listNumbers.items, item, json.items),
    schemaUrl: scalar(3, 'string'),
  })
  const resourceGroup = message<ResourceGroup<ItemBySignal[S]>>(json.resources, {
    resource: required(1, resource),
    scopes: list(listNumbers.scopes, scopeGroup, json.scopes),
    schemaUrl: scalar(3, 'string'),
  })
  const request = message<OtlpRequest<S>>(`${signal} request`, {
    resources: list(listNumbers.resources, resourceGroup, json.resources),
  })
  return { request, resourceGroup, scopeGroup, item }
}

export const schema: { readonly [S in Signal]: SignalSchema<S> } = {
  traces: signalSchema('traces', span),
  metrics: signalSchema('metrics', metric),
  logs: signalSchema('logs', logRecord),
}
