import fc from 'fast-check'
import type {
  AnyValue,
  Exemplar,
  ExponentialBuckets,
  InstrumentationScope,
  ItemBySignal,
  KeyValue,
  LogRecord,
  Metric,
  MetricData,
  NumberValue,
  OtlpRequest,
  Resource,
  Signal,
  Span,
  SpanEvent,
  SpanLink,
} from './model/types.ts'

// Arbitraries of all values that the model can contain, within its ranges. Texts are well formed.

const text = fc.oneof(
  { weight: 4, arbitrary: fc.string({ unit: 'grapheme', maxLength: 20 }) },
  { weight: 2, arbitrary: fc.string({ unit: 'binary', maxLength: 12 }) },
  { weight: 1, arbitrary: fc.string({ unit: 'grapheme', minLength: 70, maxLength: 200 }) },
)
const uint64 = fc.oneof(fc.bigInt(0n, 2n ** 64n - 1n), fc.bigInt(0n, 300n), fc.constant(2n ** 53n))
const int64 = fc.oneof(fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n), fc.bigInt(-300n, 300n), fc.constant(2n ** 53n + 1n))
const uint32 = fc.oneof(fc.nat(200), fc.integer({ min: 0, max: 0xffff_ffff }))
const enumNumber = fc.oneof(fc.nat(5), fc.integer())
const double = fc.oneof(fc.double(), fc.integer().map(Number), fc.constantFrom(0, -0, 17, Number.NaN, -Infinity))
const optionalDouble = fc.option(double, { nil: undefined })
const hex = (digits: number) =>
  fc.oneof(
    fc.constant(''),
    fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: digits, maxLength: digits }),
  )
const traceId = hex(32)
const spanId = hex(16)

const { any } = fc.letrec<{ any: AnyValue; attribute: KeyValue }>((tie) => ({
  any: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.record({ type: fc.constant('string' as const), value: text }),
    fc.record({ type: fc.constant('bool' as const), value: fc.boolean() }),
    fc.record({ type: fc.constant('int' as const), value: int64 }),
    fc.record({ type: fc.constant('double' as const), value: double }),
    fc.record({ type: fc.constant('bytes' as const), value: fc.uint8Array({ maxLength: 9 }) }),
    fc.constant({ type: 'empty' as const, value: undefined }),
    fc.record({ type: fc.constant('array' as const), value: fc.array(tie('any'), { maxLength: 4 }) }),
    fc.record({ type: fc.constant('kvlist' as const), value: fc.array(tie('attribute'), { maxLength: 4 }) }),
  ),
  attribute: fc.tuple(text, tie('any')).map(([key, value]) => ({ key, ...value })),
}))

export const anyValues = any
export const keyValues: fc.Arbitrary<KeyValue> = fc.tuple(text, any).map(([key, value]) => ({ key, ...value }))
const attributes = fc.array(keyValues, { maxLength: 5 })

const spanEvent: fc.Arbitrary<SpanEvent> = fc.record({
  timeUnixNano: uint64,
  name: text,
  attributes,
  droppedAttributesCount: uint32,
})

const spanLink: fc.Arbitrary<SpanLink> = fc.record({
  traceId,
  spanId,
  traceState: text,
  attributes,
  droppedAttributesCount: uint32,
  flags: uint32,
})

const span: fc.Arbitrary<Span> = fc.record({
  traceId,
  spanId,
  traceState: text,
  parentSpanId: spanId,
  flags: uint32,
  name: text,
  kind: enumNumber,
  startTimeUnixNano: uint64,
  endTimeUnixNano: uint64,
  attributes,
  droppedAttributesCount: uint32,
  events: fc.array(spanEvent, { maxLength: 2 }),
  droppedEventsCount: uint32,
  links: fc.array(spanLink, { maxLength: 2 }),
  droppedLinksCount: uint32,
  status: fc.option(fc.record({ message: text, code: enumNumber }), { nil: undefined }),
})

const logRecord: fc.Arbitrary<LogRecord> = fc.record({
  timeUnixNano: uint64,
  observedTimeUnixNano: uint64,
  severityNumber: enumNumber,
  severityText: text,
  body: fc.option(any, { nil: undefined }),
  attributes,
  droppedAttributesCount: uint32,
  flags: uint32,
  traceId,
  spanId,
  eventName: text,
})

const numberValue: fc.Arbitrary<NumberValue | undefined> = fc.oneof(
  fc.constant(undefined),
  fc.record({ type: fc.constant('int' as const), value: int64 }),
  fc.record({ type: fc.constant('double' as const), value: double }),
)

const exemplar: fc.Arbitrary<Exemplar> = fc.record({
  filteredAttributes: attributes,
  timeUnixNano: uint64,
  value: numberValue,
  spanId,
  traceId,
})

const point = { attributes, startTimeUnixNano: uint64, timeUnixNano: uint64, flags: uint32 }
const exemplars = fc.array(exemplar, { maxLength: 2 })
const buckets: fc.Arbitrary<ExponentialBuckets | undefined> = fc.option(
  fc.record({ offset: fc.integer(), bucketCounts: fc.array(uint64, { maxLength: 6 }) }),
  { nil: undefined },
)

const points = <T>(arbitrary: fc.Arbitrary<T>) => fc.array(arbitrary, { maxLength: 3 })
const numberPoints = points(fc.record({ ...point, value: numberValue, exemplars }))
const spread = { sum: optionalDouble, min: optionalDouble, max: optionalDouble }

const metricData: fc.Arbitrary<MetricData | undefined> = fc.oneof(
  fc.constant(undefined),
  fc.record({ type: fc.constant('gauge' as const), dataPoints: numberPoints }),
  fc.record({
    type: fc.constant('sum' as const),
    dataPoints: numberPoints,
    aggregationTemporality: enumNumber,
    isMonotonic: fc.boolean(),
  }),
  fc.record({
    type: fc.constant('histogram' as const),
    dataPoints: points(
      fc.record({
        ...point,
        ...spread,
        count: uint64,
        bucketCounts: fc.array(uint64, { maxLength: 20 }),
        explicitBounds: fc.array(double, { maxLength: 20 }),
        exemplars,
      }),
    ),
    aggregationTemporality: enumNumber,
  }),
  fc.record({
    type: fc.constant('exponentialHistogram' as const),
    dataPoints: points(
      fc.record({
        ...point,
        ...spread,
        count: uint64,
        scale: fc.integer(),
        zeroCount: uint64,
        positive: buckets,
        negative: buckets,
        exemplars,
        zeroThreshold: double,
      }),
    ),
    aggregationTemporality: enumNumber,
  }),
  fc.record({
    type: fc.constant('summary' as const),
    dataPoints: points(
      fc.record({
        ...point,
        count: uint64,
        sum: double,
        quantileValues: fc.array(fc.record({ quantile: double, value: double }), { maxLength: 3 }),
      }),
    ),
  }),
)

const metric: fc.Arbitrary<Metric> = fc.record({
  name: text,
  description: text,
  unit: text,
  data: metricData,
  metadata: attributes,
})

const itemBySignal: { readonly [S in Signal]: fc.Arbitrary<ItemBySignal[S]> } = {
  traces: span,
  metrics: metric,
  logs: logRecord,
}

const resource: fc.Arbitrary<Resource> = fc.record({ attributes, droppedAttributesCount: uint32 })
const scope: fc.Arbitrary<InstrumentationScope> = fc.record({
  name: text,
  version: text,
  attributes,
  droppedAttributesCount: uint32,
})

export const chunkHeaders = fc.record({ resource, scope, resourceSchemaUrl: text, scopeSchemaUrl: text })

export function items<S extends Signal>(signal: S): fc.Arbitrary<ItemBySignal[S]> {
  return itemBySignal[signal] as fc.Arbitrary<ItemBySignal[S]>
}

export function requests<S extends Signal>(signal: S): fc.Arbitrary<OtlpRequest<S>> {
  const scopeGroup = fc.record({ scope, items: fc.array(items(signal), { maxLength: 3 }), schemaUrl: text })
  const resourceGroup = fc.record({ resource, scopes: fc.array(scopeGroup, { maxLength: 2 }), schemaUrl: text })
  return fc.record({ resources: fc.array(resourceGroup, { maxLength: 2 }) })
}
