import {
  JsonLogsSerializer,
  JsonMetricsSerializer,
  JsonTraceSerializer,
  ProtobufLogsSerializer,
  ProtobufMetricsSerializer,
  ProtobufTraceSerializer,
} from '@opentelemetry/otlp-transformer'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decodeRequest } from './messages/decode-request.ts'
import type { Encoding } from './messages/encoding.ts'
import { encodeRequest } from './messages/request-encoder.ts'
import { toHrTime } from './model/time.ts'
import type { ItemBySignal, KeyValue, LogRecord, Metric, MetricData, OtlpRequest, Signal, Span } from './model/types.ts'

/**
 * The OpenTelemetry JavaScript serialisers are a second implementation. Their bytes must be decoded to the model that we
 * encode. The inputs leave out their known deviations from OTLP: integral doubles, integers and times beyond 2^53,
 * non-finite numbers in JSON, exemplars.
 */
const serializers = {
  traces: { protobuf: ProtobufTraceSerializer, json: JsonTraceSerializer },
  metrics: { protobuf: ProtobufMetricsSerializer, json: JsonMetricsSerializer },
  logs: { protobuf: ProtobufLogsSerializer, json: JsonLogsSerializer },
} as const

/** An object of the SDK, and the same in our model. */
interface Twin<Model> {
  readonly sdk: Record<string, unknown>
  readonly model: Model
}

const text = fc.string({ unit: 'grapheme', maxLength: 12 })
const hex = (digits: number) =>
  fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: digits, maxLength: digits })
const fraction = fc.integer({ min: -1e6, max: 1e6 }).map((n) => n + 0.5)
const count = fc.nat(0xffff_ffff)
const spanContext = fc.record({ traceId: hex(32), spanId: hex(16), traceFlags: fc.nat(255) })
/** The JSON serialisers write nanoseconds as exact strings. */
const time = fc.bigInt(0n, 4_000_000_000_000_000_000n).map((ns) => ({ sdk: toHrTime(ns), model: ns }))

const anyValue: fc.Arbitrary<{ sdk: unknown; model: object }> = fc.oneof(
  text.map((value) => ({ sdk: value, model: { type: 'string', value } })),
  fc.boolean().map((value) => ({ sdk: value, model: { type: 'bool', value } })),
  fraction.map((value) => ({ sdk: value, model: { type: 'double', value } })),
  fc.integer().map((value) => ({ sdk: value, model: { type: 'int', value: BigInt(value) } })),
  fc.array(text, { maxLength: 3 }).map((values) => ({
    sdk: values,
    model: { type: 'array', value: values.map((value) => ({ type: 'string', value })) },
  })),
)
/** Attributes with keys that JavaScript objects keep in order. */
const attributes = fc
  .uniqueArray(
    fc.tuple(
      text.map((key) => `k${key}`),
      anyValue,
    ),
    { selector: ([key]) => key, maxLength: 5 },
  )
  .map((entries) => ({
    sdk: Object.fromEntries(entries.map(([key, { sdk }]) => [key, sdk])),
    model: entries.map(([key, { model }]) => ({ key, ...model }) as KeyValue),
  }))

const flagsOf = (traceFlags: number, isRemote: boolean) => traceFlags | 0x100 | (isRemote ? 0x200 : 0)

const spans: fc.Arbitrary<Twin<Span>> = fc
  .record({
    context: spanContext,
    parent: fc.option(fc.record({ spanId: hex(16), isRemote: fc.boolean() }), { nil: undefined }),
    link: spanContext,
    name: text,
    kind: fc.nat(4),
    start: time,
    end: time,
    attributes,
    inner: attributes,
    status: fc.record({ code: fc.nat(2), message: text }),
    dropped: count,
  })
  .map((given) => ({
    sdk: {
      spanContext: () => given.context,
      parentSpanContext: given.parent,
      name: given.name,
      kind: given.kind,
      startTime: given.start.sdk,
      endTime: given.end.sdk,
      attributes: given.attributes.sdk,
      droppedAttributesCount: given.dropped,
      events: [{ name: given.name, time: given.end.sdk, attributes: given.inner.sdk, droppedAttributesCount: 1 }],
      droppedEventsCount: 2,
      links: [{ context: given.link, attributes: given.inner.sdk, droppedAttributesCount: 3 }],
      droppedLinksCount: 4,
      status: given.status,
    },
    model: {
      traceId: given.context.traceId,
      spanId: given.context.spanId,
      traceState: '',
      parentSpanId: given.parent?.spanId ?? '',
      flags: flagsOf(given.context.traceFlags, given.parent?.isRemote ?? false),
      name: given.name,
      kind: given.kind + 1,
      startTimeUnixNano: given.start.model,
      endTimeUnixNano: given.end.model,
      attributes: given.attributes.model,
      droppedAttributesCount: given.dropped,
      events: [
        { timeUnixNano: given.end.model, name: given.name, attributes: given.inner.model, droppedAttributesCount: 1 },
      ],
      droppedEventsCount: 2,
      links: [
        {
          traceId: given.link.traceId,
          spanId: given.link.spanId,
          traceState: '',
          attributes: given.inner.model,
          droppedAttributesCount: 3,
          flags: flagsOf(given.link.traceFlags, false),
        },
      ],
      droppedLinksCount: 4,
      status: given.status,
    },
  }))

const logRecords: fc.Arbitrary<Twin<LogRecord>> = fc
  .record({
    context: spanContext,
    time,
    observed: time,
    severityNumber: fc.integer({ min: 1, max: 24 }),
    severityText: text,
    body: anyValue,
    attributes,
    eventName: text,
    dropped: count,
  })
  .map(({ context, body, ...given }) => ({
    sdk: {
      ...given,
      spanContext: context,
      hrTime: given.time.sdk,
      hrTimeObserved: given.observed.sdk,
      body: body.sdk,
      attributes: given.attributes.sdk,
      droppedAttributesCount: given.dropped,
    },
    model: {
      timeUnixNano: given.time.model,
      observedTimeUnixNano: given.observed.model,
      severityNumber: given.severityNumber,
      severityText: given.severityText,
      body: body.model as LogRecord['body'],
      attributes: given.attributes.model,
      droppedAttributesCount: given.dropped,
      flags: context.traceFlags,
      traceId: context.traceId,
      spanId: context.spanId,
      eventName: given.eventName,
    },
  }))

const VALUE_TYPE = { INT: 0, DOUBLE: 1 }
const DATA_POINT_TYPE = { HISTOGRAM: 0, EXPONENTIAL_HISTOGRAM: 1, GAUGE: 2, SUM: 3 }
const TEMPORALITY = { CUMULATIVE: 1 }
const OTLP_CUMULATIVE = 2

interface DataTwin {
  readonly sdk: object
  readonly valueType: number
  readonly data: MetricData
}

const dataTwins: fc.Arbitrary<DataTwin> = fc
  .record({
    start: time,
    end: time,
    attributes,
    int: fc.integer(),
    double: fraction,
    counts: fc.array(fc.nat(1000), { minLength: 1, maxLength: 4 }),
    form: fc.constantFrom('gauge', 'sum', 'histogram', 'exponentialHistogram'),
  })
  .map((given): DataTwin => {
    const { start, end, int, double, counts, form } = given
    const total = counts.reduce((sum, one) => sum + one, 0)
    const aggregationTemporality = OTLP_CUMULATIVE
    const bounds = counts.slice(1).map((_, index) => index + 0.5)
    const modelPoint = {
      attributes: given.attributes.model,
      startTimeUnixNano: start.model,
      timeUnixNano: end.model,
      exemplars: [],
      flags: 0,
    }
    const spread = { count: BigInt(total), sum: double, min: -0.5, max: double }
    const bucketCounts = counts.map(BigInt)
    const sdk = (dataPointType: number, value: unknown) => ({
      dataPointType,
      aggregationTemporality: TEMPORALITY.CUMULATIVE,
      isMonotonic: true,
      dataPoints: [{ startTime: start.sdk, endTime: end.sdk, attributes: given.attributes.sdk, value }],
    })
    switch (form) {
      case 'gauge':
        return {
          sdk: sdk(DATA_POINT_TYPE.GAUGE, double),
          valueType: VALUE_TYPE.DOUBLE,
          data: { type: 'gauge', dataPoints: [{ ...modelPoint, value: { type: 'double', value: double } }] },
        }
      case 'sum': {
        const dataPoints = [{ ...modelPoint, value: { type: 'int' as const, value: BigInt(int) } }]
        return {
          sdk: sdk(DATA_POINT_TYPE.SUM, int),
          valueType: VALUE_TYPE.INT,
          data: { type: 'sum', dataPoints, aggregationTemporality, isMonotonic: true },
        }
      }
      case 'histogram': {
        const dataPoints = [{ ...modelPoint, ...spread, bucketCounts, explicitBounds: bounds }]
        const value = { ...spread, count: total, buckets: { boundaries: bounds, counts } }
        return {
          sdk: sdk(DATA_POINT_TYPE.HISTOGRAM, value),
          valueType: VALUE_TYPE.DOUBLE,
          data: { type: 'histogram', dataPoints, aggregationTemporality },
        }
      }
      default: {
        const positive = { offset: -3, bucketCounts: counts }
        const negative = { offset: 7, bucketCounts: [1] }
        const value = { ...spread, count: total, scale: -2, zeroCount: 5, positive, negative }
        const dataPoints = [
          {
            ...modelPoint,
            ...spread,
            scale: -2,
            zeroCount: 5n,
            positive: { offset: -3, bucketCounts },
            negative: { offset: 7, bucketCounts: [1n] },
            zeroThreshold: 0,
          },
        ]
        return {
          sdk: sdk(DATA_POINT_TYPE.EXPONENTIAL_HISTOGRAM, value),
          valueType: VALUE_TYPE.DOUBLE,
          data: { type: 'exponentialHistogram', dataPoints, aggregationTemporality },
        }
      }
    }
  })

const metrics: fc.Arbitrary<Twin<Metric>> = fc
  .record({ name: text, description: text, unit: text, twin: dataTwins })
  .map(({ twin, ...descriptor }) => ({
    sdk: { descriptor: { ...descriptor, valueType: twin.valueType }, ...twin.sdk },
    model: { ...descriptor, data: twin.data, metadata: [] },
  }))

const surroundings = fc.record({ attributes, name: text, version: text, schemaUrl: text })
type Surroundings = typeof surroundings extends fc.Arbitrary<infer T> ? T : never

function requestOf<S extends Signal>(around: Surroundings, items: readonly ItemBySignal[S][]): OtlpRequest<S> {
  const { attributes: resourceAttributes, name, version, schemaUrl } = around
  const scope = { name, version, attributes: [], droppedAttributesCount: 0 }
  const resource = { attributes: resourceAttributes.model, droppedAttributesCount: 0 }
  return { resources: [{ resource, scopes: [{ scope, items, schemaUrl }], schemaUrl: '' }] }
}

/** Returns the argument for the serialiser of a signal. */
function sdkInput(signal: Signal, around: Surroundings, items: Record<string, unknown>[]): unknown {
  const resource = { attributes: around.attributes.sdk }
  const scope = { name: around.name, version: around.version, schemaUrl: around.schemaUrl }
  if (signal === 'metrics') return { resource, scopeMetrics: [{ scope, metrics: items }] }
  return items.map((item) => ({ ...item, resource, instrumentationScope: scope }))
}

const twins = { traces: spans, metrics, logs: logRecords } as const
const cases = (['traces', 'metrics', 'logs'] as const).flatMap((signal) =>
  (['protobuf', 'json'] as const).map((encoding: Encoding) => ({ signal, encoding })),
)

test.each(cases)('$signal in $encoding mean the same in both implementations', ({ signal, encoding }) => {
  const list = fc.array(twins[signal] as fc.Arbitrary<Twin<ItemBySignal[typeof signal]>>, {
    minLength: 1,
    maxLength: 3,
  })
  fc.assert(
    fc.property(surroundings, list, (around, pairs) => {
      const request = requestOf(
        around,
        pairs.map(({ model }) => model),
      )
      const theirs = serializers[signal][encoding].serializeRequest(
        sdkInput(
          signal,
          around,
          pairs.map(({ sdk }) => sdk),
        ) as never,
      )
      expect(decodeRequest(signal, theirs!, encoding)).toEqual(request)
      expect(decodeRequest(signal, encodeRequest(signal, request as never, encoding), encoding)).toEqual(request)
    }),
  )
})
