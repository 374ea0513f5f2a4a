import { describe, expect, test } from 'vitest'
import { decodeMessage } from './messages/decode-request.ts'
import { encodeMessage } from './messages/encode-message.ts'
import type {
  AnyValue,
  Exemplar,
  HistogramDataPoint,
  LogRecord,
  Metric,
  MetricData,
  NumberDataPoint,
  OtlpRequest,
  Span,
} from './model/types.ts'
import type { Message } from './schema/field.ts'
import { emptyResource, emptyScope, schema } from './schema/schema.ts'

// The bytes and the JSON below were written by hand from the proto files, not by the code under test.

const traceId = '0102030405060708090a0b0c0d0e0f10'
const spanId = 'a1a2a3a4a5a6a7a8'

const span: Span = {
  traceId,
  spanId,
  traceState: '',
  parentSpanId: '',
  flags: 0x103,
  name: 'a',
  kind: 1,
  startTimeUnixNano: 1n,
  endTimeUnixNano: 2n,
  attributes: [{ key: 'k', type: 'int', value: -1n }],
  droppedAttributesCount: 0,
  events: [],
  droppedEventsCount: 0,
  links: [],
  droppedLinksCount: 0,
  status: { message: '', code: 2 },
}

const traceRequest: OtlpRequest<'traces'> = {
  resources: [
    {
      resource: { ...emptyResource, attributes: [{ key: 'service.name', type: 'string', value: 'ci' }] },
      scopes: [{ scope: { ...emptyScope, name: 'c' }, items: [span], schemaUrl: '' }],
      schemaUrl: '',
    },
  ],
}

const spanWithEventAndLink: Span = {
  ...span,
  attributes: [],
  flags: 0,
  startTimeUnixNano: 0n,
  endTimeUnixNano: 0n,
  status: undefined,
  parentSpanId: spanId,
  traceState: 't',
  events: [{ timeUnixNano: 5n, name: 'e', attributes: [], droppedAttributesCount: 1 }],
  links: [{ traceId, spanId, traceState: '', attributes: [], droppedAttributesCount: 0, flags: 0x300 }],
  droppedLinksCount: 128,
}

const logRecord: LogRecord = {
  timeUnixNano: 1n,
  observedTimeUnixNano: 2n,
  severityNumber: 9,
  severityText: 'INFO',
  body: { type: 'string', value: 'b' },
  attributes: [{ key: 'k', type: 'empty', value: undefined }],
  droppedAttributesCount: 0,
  flags: 1,
  traceId,
  spanId,
  eventName: 'e',
}

const exemplar: Exemplar = {
  filteredAttributes: [],
  timeUnixNano: 1n,
  value: { type: 'int', value: -2n },
  spanId,
  traceId,
}

const numberPoint: NumberDataPoint = {
  attributes: [],
  startTimeUnixNano: 0n,
  timeUnixNano: 1n,
  value: undefined,
  exemplars: [],
  flags: 0,
}

const histogramPoint: HistogramDataPoint = {
  attributes: [],
  startTimeUnixNano: 0n,
  timeUnixNano: 1n,
  count: 3n,
  sum: 0,
  bucketCounts: [1n, 2n],
  explicitBounds: [0.5],
  exemplars: [],
  flags: 0,
  min: undefined,
  max: 4,
}

function metric(name: string, unit: string, data: MetricData): Metric {
  return { name, description: '', unit, data, metadata: [] }
}

interface Example<T = unknown> {
  name: string
  message: Message<T>
  model: T
  protobuf: string
  json: string
}

function example<T>(name: string, message: Message<T>, model: T, protobuf: string, json: string): Example {
  return { name, message, model, protobuf, json } as Example
}

const examples = [
  example(
    'a trace request',
    schema.traces.request,
    traceRequest,
    `0a 70
       0a 16  0a 14  0a 0c 73 65 72 76 69 63 65 2e 6e 61 6d 65  12 04 0a 02 63 69
       12 56
         0a 03  0a 01 63
         12 4f
           0a 10 01 02 03 04 05 06 07 08 09 0a 0b 0c 0d 0e 0f 10
           12 08 a1 a2 a3 a4 a5 a6 a7 a8
           2a 01 61
           30 01
           39 01 00 00 00 00 00 00 00
           41 02 00 00 00 00 00 00 00
           4a 10  0a 01 6b  12 0b 18 ff ff ff ff ff ff ff ff ff 01
           7a 02  18 02
           85 01 03 01 00 00`,
    `{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"ci"}}]},"scopeSpans":[{"scope":{"name":"c"},"spans":[{"traceId":"${traceId}","spanId":"${spanId}","flags":259,"name":"a","kind":1,"startTimeUnixNano":"1","endTimeUnixNano":"2","attributes":[{"key":"k","value":{"intValue":"-1"}}],"status":{"code":2}}]}]}]}`,
  ),
  example(
    'a span with an event and a link',
    schema.traces.item,
    spanWithEventAndLink,
    `0a 10 01 02 03 04 05 06 07 08 09 0a 0b 0c 0d 0e 0f 10
     12 08 a1 a2 a3 a4 a5 a6 a7 a8
     1a 01 74
     22 08 a1 a2 a3 a4 a5 a6 a7 a8
     2a 01 61
     30 01
     5a 0e  09 05 00 00 00 00 00 00 00  12 01 65  20 01
     6a 21
       0a 10 01 02 03 04 05 06 07 08 09 0a 0b 0c 0d 0e 0f 10
       12 08 a1 a2 a3 a4 a5 a6 a7 a8
       35 00 03 00 00
     70 80 01`,
    `{"traceId":"${traceId}","spanId":"${spanId}","traceState":"t","parentSpanId":"${spanId}","name":"a","kind":1,"events":[{"timeUnixNano":"5","name":"e","droppedAttributesCount":1}],"links":[{"traceId":"${traceId}","spanId":"${spanId}","flags":768}],"droppedLinksCount":128}`,
  ),
  example(
    'a log record with an attribute without a value',
    schema.logs.item,
    logRecord,
    `09 01 00 00 00 00 00 00 00
     10 09
     1a 04 49 4e 46 4f
     2a 03  0a 01 62
     32 05  0a 01 6b  12 00
     45 01 00 00 00
     4a 10 01 02 03 04 05 06 07 08 09 0a 0b 0c 0d 0e 0f 10
     52 08 a1 a2 a3 a4 a5 a6 a7 a8
     59 02 00 00 00 00 00 00 00
     62 01 65`,
    `{"timeUnixNano":"1","observedTimeUnixNano":"2","severityNumber":9,"severityText":"INFO","body":{"stringValue":"b"},"attributes":[{"key":"k","value":{}}],"flags":1,"traceId":"${traceId}","spanId":"${spanId}","eventName":"e"}`,
  ),
  example(
    'a gauge with an integral double value and an exemplar',
    schema.metrics.item,
    metric('g', 's', {
      type: 'gauge',
      dataPoints: [
        {
          ...numberPoint,
          attributes: [{ key: 'a', type: 'bool', value: true }],
          value: { type: 'double', value: 17 },
          exemplars: [exemplar],
        },
      ],
    }),
    `0a 01 67
     1a 01 73
     2a 4d
       0a 4b
         19 01 00 00 00 00 00 00 00
         21 00 00 00 00 00 00 31 40
         2a 2e
           11 01 00 00 00 00 00 00 00
           22 08 a1 a2 a3 a4 a5 a6 a7 a8
           2a 10 01 02 03 04 05 06 07 08 09 0a 0b 0c 0d 0e 0f 10
           31 fe ff ff ff ff ff ff ff
         3a 07  0a 01 61  12 02 10 01`,
    `{"name":"g","unit":"s","gauge":{"dataPoints":[{"attributes":[{"key":"a","value":{"boolValue":true}}],"timeUnixNano":"1","asDouble":17,"exemplars":[{"timeUnixNano":"1","asInt":"-2","spanId":"${spanId}","traceId":"${traceId}"}]}]}}`,
  ),
  example(
    'a sum',
    schema.metrics.item,
    metric('c', '', {
      type: 'sum',
      dataPoints: [{ ...numberPoint, value: { type: 'int', value: 3n } }],
      aggregationTemporality: 2,
      isMonotonic: true,
    }),
    `0a 01 63
     3a 18
       0a 12  19 01 00 00 00 00 00 00 00  31 03 00 00 00 00 00 00 00
       10 02
       18 01`,
    '{"name":"c","sum":{"dataPoints":[{"timeUnixNano":"1","asInt":"3"}],"aggregationTemporality":2,"isMonotonic":true}}',
  ),
  example(
    'a histogram with a sum of 0 and no minimum',
    schema.metrics.item,
    metric('h', '', { type: 'histogram', dataPoints: [histogramPoint], aggregationTemporality: 1 }),
    `0a 01 68
     4a 44
       0a 40
         19 01 00 00 00 00 00 00 00
         21 03 00 00 00 00 00 00 00
         29 00 00 00 00 00 00 00 00
         32 10 01 00 00 00 00 00 00 00 02 00 00 00 00 00 00 00
         3a 08 00 00 00 00 00 00 e0 3f
         61 00 00 00 00 00 00 10 40
       10 01`,
    '{"name":"h","histogram":{"dataPoints":[{"timeUnixNano":"1","count":"3","sum":0,"bucketCounts":["1","2"],"explicitBounds":[0.5],"max":4}],"aggregationTemporality":1}}',
  ),
  example(
    'an exponential histogram',
    schema.metrics.item,
    metric('e', '', {
      type: 'exponentialHistogram',
      dataPoints: [
        {
          attributes: [],
          startTimeUnixNano: 0n,
          timeUnixNano: 1n,
          count: 2n,
          sum: undefined,
          scale: -1,
          zeroCount: 1n,
          positive: { offset: -3, bucketCounts: [300n] },
          negative: undefined,
          flags: 1,
          exemplars: [],
          min: undefined,
          max: undefined,
          zeroThreshold: 0.5,
        },
      ],
      aggregationTemporality: 2,
    }),
    `0a 01 65
     52 34
       0a 30
         19 01 00 00 00 00 00 00 00
         21 02 00 00 00 00 00 00 00
         30 01
         39 01 00 00 00 00 00 00 00
         42 06  08 05  12 02 ac 02
         50 01
         71 00 00 00 00 00 00 e0 3f
       10 02`,
    '{"name":"e","exponentialHistogram":{"dataPoints":[{"timeUnixNano":"1","count":"2","scale":-1,"zeroCount":"1","positive":{"offset":-3,"bucketCounts":["300"]},"flags":1,"zeroThreshold":0.5}],"aggregationTemporality":2}}',
  ),
  example(
    'a summary',
    schema.metrics.item,
    metric('s', '', {
      type: 'summary',
      dataPoints: [
        {
          attributes: [],
          startTimeUnixNano: 0n,
          timeUnixNano: 1n,
          count: 1n,
          sum: 2.5,
          quantileValues: [{ quantile: 0.5, value: 1 }],
          flags: 0,
        },
      ],
    }),
    `0a 01 73
     5a 31
       0a 2f
         19 01 00 00 00 00 00 00 00
         21 01 00 00 00 00 00 00 00
         29 00 00 00 00 00 00 04 40
         32 12  09 00 00 00 00 00 00 e0 3f  11 00 00 00 00 00 00 f0 3f`,
    '{"name":"s","summary":{"dataPoints":[{"timeUnixNano":"1","count":"1","sum":2.5,"quantileValues":[{"quantile":0.5,"value":1}]}]}}',
  ),
]

describe.each(examples)('$name', ({ message, model, protobuf, json }) => {
  test('in protobuf', () => {
    const bytes = bytesOf(protobuf)
    expect(hexOf(encodeMessage(message, model, 'protobuf'))).toBe(hexOf(bytes))
    expect(decodeMessage(message, bytes, 'protobuf')).toEqual(model)
  })

  test('in JSON', () => {
    expect(Buffer.from(encodeMessage(message, model, 'json')).toString()).toBe(json)
    expect(decodeMessage(message, Buffer.from(json), 'json')).toEqual(model)
  })
})

const values: { any: AnyValue; protobuf: string; json: string }[] = [
  { any: { type: 'string', value: '' }, protobuf: '0a 00', json: '{"stringValue":""}' },
  { any: { type: 'string', value: 'é"\n' }, protobuf: '0a 04 c3 a9 22 0a', json: '{"stringValue":"é\\"\\n"}' },
  { any: { type: 'string', value: '🚀' }, protobuf: '0a 04 f0 9f 9a 80', json: '{"stringValue":"🚀"}' },
  { any: { type: 'bool', value: false }, protobuf: '10 00', json: '{"boolValue":false}' },
  { any: { type: 'int', value: 0n }, protobuf: '18 00', json: '{"intValue":"0"}' },
  { any: { type: 'int', value: 300n }, protobuf: '18 ac 02', json: '{"intValue":"300"}' },
  {
    any: { type: 'int', value: 2n ** 53n + 1n },
    protobuf: '18 81 80 80 80 80 80 80 10',
    json: '{"intValue":"9007199254740993"}',
  },
  {
    any: { type: 'int', value: -(2n ** 63n) },
    protobuf: '18 80 80 80 80 80 80 80 80 80 01',
    json: '{"intValue":"-9223372036854775808"}',
  },
  { any: { type: 'double', value: 17 }, protobuf: '21 00 00 00 00 00 00 31 40', json: '{"doubleValue":17}' },
  { any: { type: 'double', value: -0 }, protobuf: '21 00 00 00 00 00 00 00 80', json: '{"doubleValue":-0}' },
  {
    any: { type: 'double', value: Number.NaN },
    protobuf: '21 00 00 00 00 00 00 f8 7f',
    json: '{"doubleValue":"NaN"}',
  },
  {
    any: { type: 'double', value: Number.NEGATIVE_INFINITY },
    protobuf: '21 00 00 00 00 00 00 f0 ff',
    json: '{"doubleValue":"-Infinity"}',
  },
  { any: { type: 'bytes', value: new Uint8Array([0, 255]) }, protobuf: '3a 02 00 ff', json: '{"bytesValue":"AP8="}' },
  { any: { type: 'empty', value: undefined }, protobuf: '', json: '{}' },
  { any: { type: 'array', value: [] }, protobuf: '2a 00', json: '{"arrayValue":{}}' },
  {
    any: {
      type: 'array',
      value: [
        { type: 'empty', value: undefined },
        { type: 'bool', value: true },
      ],
    },
    protobuf: '2a 06 0a 00 0a 02 10 01',
    json: '{"arrayValue":{"values":[{},{"boolValue":true}]}}',
  },
  {
    any: { type: 'kvlist', value: [{ key: '', type: 'int', value: 1n }] },
    protobuf: '32 06 0a 04 12 02 18 01',
    json: '{"kvlistValue":{"values":[{"key":"","value":{"intValue":"1"}}]}}',
  },
]

test.each(values)('AnyValue $json', ({ any, protobuf, json }) => {
  const { body: _, ...rest } = logRecord
  const empty: LogRecord = { ...rest, body: any, attributes: [], traceId: '', spanId: '', eventName: '' }
  const record = { ...empty, timeUnixNano: 0n, observedTimeUnixNano: 0n, severityNumber: 0, severityText: '', flags: 0 }
  const inside = bytesOf(protobuf)
  const bytes = Buffer.concat([Buffer.from([0x2a, inside.length]), inside])
  expect(hexOf(encodeMessage(schema.logs.item, record, 'protobuf'))).toBe(hexOf(bytes))
  expect(decodeMessage(schema.logs.item, bytes, 'protobuf')).toEqual(record)
  expect(Buffer.from(encodeMessage(schema.logs.item, record, 'json')).toString()).toBe(`{"body":${json}}`)
  expect(decodeMessage(schema.logs.item, Buffer.from(`{"body":${json}}`), 'json')).toEqual(record)
})

function bytesOf(hex: string): Buffer {
  return Buffer.from(hex.replaceAll(/\s/g, ''), 'hex')
}

function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}
