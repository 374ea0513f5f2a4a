import { describe, expect, test } from 'vitest'
import { OtlpDecodeError } from '../bytes/decode-error.ts'
import type { DecodeLimits } from '../bytes/decode-limits.ts'
import type { AnyValue, LogRecord, Metric, Signal, Span } from '../model/types.ts'
import { decodeRequest, decodeRequestInSteps } from './decode-request.ts'
import type { Encoding } from './encoding.ts'

/** Returns a protobuf field of length-delimited type. Its parts are numbers, strings or other fields. */
function field(number: number, ...parts: (number | string | readonly number[])[]): number[] {
  const inside = parts.flatMap((part) =>
    typeof part === 'number' ? [part] : typeof part === 'string' ? [...Buffer.from(part)] : [...part],
  )
  if (inside.length > 127) throw new Error('a length must fit into one byte')
  return [(number << 3) | 2, inside.length, ...inside]
}

/** Returns a request with the fields of one item. */
const requestWith = (...item: (readonly number[])[]) => Uint8Array.from(field(1, field(2, field(2, ...item))))

function spanFrom(...fields: (readonly number[])[]): Span {
  return decodeRequest('traces', requestWith(...fields), 'protobuf').resources[0]!.scopes[0]!.items[0]!
}

function metricFrom(...fields: (readonly number[])[]): Metric {
  return decodeRequest('metrics', requestWith(...fields), 'protobuf').resources[0]!.scopes[0]!.items[0]!
}

function spanFromJson(json: string): Span {
  const body = Buffer.from(`{"resourceSpans":[{"scopeSpans":[{"spans":[${json}]}]}]}`)
  return decodeRequest('traces', body, 'json').resources[0]!.scopes[0]!.items[0]!
}

function recordFromJson(json: string): LogRecord {
  const body = Buffer.from(`{"resourceLogs":[{"scopeLogs":[{"logRecords":[${json}]}]}]}`)
  return decodeRequest('logs', body, 'json').resources[0]!.scopes[0]!.items[0]!
}

function refusal(decode: () => unknown): { path: string; reason: string } {
  try {
    decode()
  } catch (error) {
    expect(error).toBeInstanceOf(OtlpDecodeError)
    const { path, reason, message } = error as OtlpDecodeError
    expect(message).toBe(path === '' ? reason : `${path}: ${reason}`)
    return { path, reason }
  }
  throw new Error('was not refused')
}

describe('protobuf that is accepted', () => {
  test('no bytes are a request without resources', () => {
    expect(decodeRequest('logs', new Uint8Array(0), 'protobuf')).toEqual({ resources: [] })
  })

  test('unknown fields of every wire type are skipped', () => {
    const span = spanFrom(
      [0xf8, 0x06, 0x05],
      [0xf9, 0x06, 1, 2, 3, 4, 5, 6, 7, 8],
      field(5, 'a'),
      [0xfd, 0x06, 1, 2, 3, 4],
    )
    expect(span.name).toBe('a')
  })

  test('the last value of a repeated scalar field is used', () => {
    expect(spanFrom(field(5, 'first'), field(5, 'last')).name).toBe('last')
  })

  test('a repeated sub-message is merged', () => {
    expect(spanFrom(field(15, field(2, 'why')), field(15, [0x18, 2])).status).toEqual({ message: 'why', code: 2 })
  })

  test('the same member of a oneof is merged, another one replaces it', () => {
    const point = field(1, [0x19, 1, 0, 0, 0, 0, 0, 0, 0])
    const twice = metricFrom(field(5, point), field(5, point))
    expect(twice.data?.dataPoints).toHaveLength(2)
    const replaced = metricFrom(field(5, point), field(7, [0x10, 1]))
    expect(replaced.data).toEqual({ type: 'sum', dataPoints: [], aggregationTemporality: 1, isMonotonic: false })
  })

  test('repeated scalars may come packed, one by one, or both', () => {
    const one = [1, 0, 0, 0, 0, 0, 0, 0]
    const metric = metricFrom(field(9, field(1, [0x31, ...one], field(6, ...[one, one]), [0x31, ...one])))
    expect(metric.data).toMatchObject({ dataPoints: [{ bucketCounts: [1n, 1n, 1n, 1n] }] })
  })

  test('a longer varint than its field keeps the low 32 bits', () => {
    const minusOne = [0x18, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01]
    expect(spanFrom(field(15, minusOne)).status?.code).toBe(-1)
    expect(spanFrom([0x50, 0x85, 0x80, 0x80, 0x80, 0x80, 0x01]).droppedAttributesCount).toBe(5)
  })

  test('an AnyValue in two pieces is one value', () => {
    const array = (text: string) => field(2, field(5, field(1, field(1, text))))
    const [attribute] = spanFrom(field(9, field(1, 'k'), array('a'), array('b'))).attributes
    const values: AnyValue[] = [
      { type: 'string', value: 'a' },
      { type: 'string', value: 'b' },
    ]
    expect(attribute).toEqual({ key: 'k', type: 'array', value: values })
  })
})

test('decoded bytes do not alias the body', () => {
  const body = requestWith(field(9, field(2, field(7, 1, 2, 3))))
  const [attribute] = decodeRequest('traces', body, 'protobuf').resources[0]!.scopes[0]!.items[0]!.attributes
  body.fill(0)
  expect(attribute?.value).toEqual(Uint8Array.of(1, 2, 3))
})

describe('protobuf that is refused', () => {
  const inSpan = 'resourceSpans[0].scopeSpans[0].spans[0]'
  test.each([
    { name: 'trace id of 15 bytes', item: field(1, '123456789012345'), path: `${inSpan}.traceId`, reason: /15 bytes/ },
    { name: 'span id of 16 bytes', item: field(2, '1234567890123456'), path: `${inSpan}.spanId`, reason: /16 bytes/ },
    { name: 'text that is not UTF-8', item: field(5, 0xc3, 0x28), path: `${inSpan}.name`, reason: /UTF-8/ },
    {
      name: 'text with an encoded surrogate',
      item: field(5, 0xed, 0xa0, 0x80),
      path: `${inSpan}.name`,
      reason: /UTF-8/,
    },
    { name: 'a varint where text belongs', item: [0x28, 1], path: `${inSpan}.name`, reason: /wire type 0 where 2/ },
    { name: 'half of a fixed64', item: [0x39, 1, 2, 3, 4], path: `${inSpan}.startTimeUnixNano`, reason: /middle/ },
    {
      name: 'a length beyond the message',
      item: [0x2a, 99],
      path: `${inSpan}.name`,
      reason: /longer than the message/,
    },
    {
      name: 'a varint of eleven bytes',
      item: [0x30, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1],
      path: `${inSpan}.kind`,
      reason: /64 bits/,
    },
    {
      name: 'a varint above 64 bits',
      item: [0x30, 255, 255, 255, 255, 255, 255, 255, 255, 255, 2],
      path: `${inSpan}.kind`,
      reason: /64 bits/,
    },
    { name: 'field number 0', item: [0x02, 0], path: inSpan, reason: /not a protobuf field/ },
    { name: 'a group', item: [0xfb, 0x06, 0xfc, 0x06], path: inSpan, reason: /wire type 3/ },
    { name: 'wire type 7', item: [0xff, 0x06], path: inSpan, reason: /wire type 7/ },
    {
      name: 'deep inside',
      item: field(9, field(1, 'k'), field(2, field(5, field(1, field(6, field(1, field(2, [0x08, 1]))))))),
      path: `${inSpan}.attributes[0].value.arrayValue.values[0].kvlistValue.values[0].value.stringValue`,
      reason: /wire type/,
    },
  ])('$name', ({ item, path, reason }) => {
    const refused = refusal(() => decodeRequest('traces', requestWith(item), 'protobuf'))
    expect(refused.path).toBe(path)
    expect(refused.reason).toMatch(reason)
  })

  test('the path counts list elements from 0', () => {
    const metric = field(2, field(9, field(1, field(6, [1, 0, 0, 0, 0, 0, 0, 0, 9]))))
    const { path } = refusal(() =>
      decodeRequest('metrics', Uint8Array.from(field(1, field(2, field(2), metric))), 'protobuf'),
    )
    expect(path).toBe('resourceMetrics[0].scopeMetrics[0].metrics[1].histogram.dataPoints[0].bucketCounts[1]')
  })
})

describe('JSON that is accepted', () => {
  test('unknown keys, including snake_case keys, are ignored, and null means absent', () => {
    expect(spanFromJson('{"trace_id":"00","surprise":{"a":[1]},"status":null,"events":null,"name":"a"}')).toMatchObject(
      {
        traceId: '',
        name: 'a',
        status: undefined,
        events: [],
      },
    )
  })

  test('hex digits may be upper case and come out in lower case', () => {
    expect(spanFromJson('{"spanId":"ABCDEF0123456789"}').spanId).toBe('abcdef0123456789')
  })

  test.each([
    ['"18446744073709551615"', 18446744073709551615n],
    ['1700000000000', 1700000000000n],
    ['1e3', 1000n],
    ['"0"', 0n],
  ])('a 64-bit time of %s', (json, expected) => {
    expect(spanFromJson(`{"startTimeUnixNano":${json}}`).startTimeUnixNano).toBe(expected)
  })

  test.each([
    ['"NaN"', Number.NaN],
    ['"-Infinity"', Number.NEGATIVE_INFINITY],
    ['"1.5e3"', 1500],
    ['-0', -0],
  ])('a double of %s', (json, expected) => {
    expect(recordFromJson(`{"body":{"doubleValue":${json}}}`).body).toEqual({ type: 'double', value: expected })
  })

  test.each(['"-_8="', '"+/8="', '"+/8"'])('bytes of %s', (json) => {
    const bytes = Uint8Array.of(0xfb, 0xff)
    expect(recordFromJson(`{"body":{"bytesValue":${json}}}`).body).toEqual({ type: 'bytes', value: bytes })
  })

  test('an escaped lone surrogate becomes U+FFFD', () => {
    expect(spanFromJson('{"name":"a\\ud83d"}').name).toBe('a\ufffd')
  })
})

describe('JSON that is refused', () => {
  const inSpan = 'resourceSpans[0].scopeSpans[0].spans[0]'
  test.each([
    { json: '{"traceId":"0102"}', path: '.traceId', reason: 'must be 32 hex digits' },
    { json: '{"spanId":"zzzzzzzzzzzzzzzz"}', path: '.spanId', reason: 'must be 16 hex digits' },
    { json: '{"traceId":"AQIDBAUGBwgJCgsMDQ4PEA=="}', path: '.traceId', reason: 'must be 32 hex digits' },
    { json: '{"name":1}', path: '.name', reason: 'must be a string' },
    { json: '{"kind":"SPAN_KIND_SERVER"}', path: '.kind', reason: 'must be an integer' },
    { json: '{"kind":"1"}', path: '.kind', reason: 'must be an integer' },
    { json: '{"kind":1.5}', path: '.kind', reason: 'must be an integer' },
    { json: '{"kind":2147483648}', path: '.kind', reason: 'out of range' },
    { json: '{"flags":-1}', path: '.flags', reason: 'out of range' },
    { json: '{"startTimeUnixNano":"-1"}', path: '.startTimeUnixNano', reason: 'out of range' },
    { json: '{"startTimeUnixNano":"18446744073709551616"}', path: '.startTimeUnixNano', reason: 'out of range' },
    { json: '{"startTimeUnixNano":1e30}', path: '.startTimeUnixNano', reason: 'out of range' },
    { json: '{"startTimeUnixNano":1.5}', path: '.startTimeUnixNano', reason: 'must be an integer or a decimal string' },
    {
      json: '{"startTimeUnixNano":"0x10"}',
      path: '.startTimeUnixNano',
      reason: 'must be an integer or a decimal string',
    },
    {
      json: '{"startTimeUnixNano":" 1"}',
      path: '.startTimeUnixNano',
      reason: 'must be an integer or a decimal string',
    },
    { json: '{"events":{}}', path: '.events', reason: 'must be an array' },
    { json: '{"events":[null]}', path: '.events[0]', reason: 'must be an object' },
    { json: '{"status":[]}', path: '.status', reason: 'must be an object' },
    {
      json: '{"attributes":[{},{"value":{"boolValue":1}}]}',
      path: '.attributes[1].value.boolValue',
      reason: 'must be true or false',
    },
    {
      json: '{"attributes":[{"value":{"boolValue":true,"intValue":"1"}}]}',
      path: '.attributes[0].value',
      reason: 'has more than one value',
    },
    {
      json: '{"attributes":[{"value":{"intValue":"9223372036854775808"}}]}',
      path: '.attributes[0].value.intValue',
      reason: 'out of range',
    },
    {
      json: '{"attributes":[{"value":{"doubleValue":1e999}}]}',
      path: '.attributes[0].value.doubleValue',
      reason: 'too large for a double',
    },
    {
      json: '{"attributes":[{"value":{"bytesValue":"A"}}]}',
      path: '.attributes[0].value.bytesValue',
      reason: 'must be a base64 string',
    },
    {
      json: '{"attributes":[{"value":{"bytesValue":"AP9="}}]}',
      path: '.attributes[0].value.bytesValue',
      reason: 'must be a base64 string',
    },
    {
      json: '{"attributes":[{"value":{"arrayValue":{"values":[{},1]}}}]}',
      path: '.attributes[0].value.arrayValue.values[1]',
      reason: 'must be an object',
    },
    { json: '3', path: '', reason: 'must be an object' },
  ])('$json', ({ json, path, reason }) => {
    expect(refusal(() => spanFromJson(json))).toEqual({ path: inSpan + path, reason })
  })

  test.each(['', '{', 'null', '[]', '\ufeff{}', '{"resourceSpans":[]}x'])('the body %j', (text) => {
    expect(refusal(() => decodeRequest('traces', Buffer.from(text), 'json')).path).toBe('')
  })

  test('bytes that are not UTF-8', () => {
    expect(refusal(() => decodeRequest('traces', Uint8Array.of(0x22, 0xff, 0x22), 'json')).reason).toBe(
      'not JSON in UTF-8',
    )
  })

  test('two members of the oneof of a metric', () => {
    const body = '{"resourceMetrics":[{"scopeMetrics":[{"metrics":[{"gauge":{},"sum":{}}]}]}]}'
    expect(refusal(() => decodeRequest('metrics', Buffer.from(body), 'json'))).toEqual({
      path: 'resourceMetrics[0].scopeMetrics[0].metrics[0].sum',
      reason: 'another member of the same oneof is set too',
    })
  })
})

describe.each<Encoding>(['protobuf', 'json'])('limits in %s', (encoding) => {
  const bodyOf: Record<Encoding, { nested: (depth: number) => Uint8Array; spans: (count: number) => Uint8Array }> = {
    protobuf: {
      nested(depth) {
        let value: number[] = [0x10, 1]
        for (let level = 1; level < depth; level += 1) value = field(5, field(1, value))
        return requestWith(field(9, field(2, value)))
      },
      spans: (count) => Uint8Array.from(field(1, field(2, ...Array.from({ length: count }, () => field(2))))),
    },
    json: {
      nested(depth) {
        let value = '{"boolValue":true}'
        for (let level = 1; level < depth; level += 1) value = `{"arrayValue":{"values":[${value}]}}`
        return Buffer.from(`{"resourceSpans":[{"scopeSpans":[{"spans":[{"attributes":[{"value":${value}}]}]}]}]}`)
      },
      spans: (count) =>
        Buffer.from(`{"resourceSpans":[{"scopeSpans":[{"spans":[${Array(count).fill('{}').join()}]}]}]}`),
    },
  }
  const decode = (body: Uint8Array, limits: Partial<DecodeLimits>, signal: Signal = 'traces') =>
    decodeRequest(signal, body, encoding, limits)

  test('maxDepth: values of this depth are accepted, deeper ones are refused', () => {
    const { nested } = bodyOf[encoding]
    expect(() => decode(nested(3), { maxDepth: 3 })).not.toThrow()
    expect(refusal(() => decode(nested(4), { maxDepth: 3 })).reason).toBe('nested deeper than 3 levels')
  })

  test('maxElements counts the elements of all lists', () => {
    const { spans } = bodyOf[encoding]
    expect(() => decode(spans(4), { maxElements: 6 })).not.toThrow()
    expect(refusal(() => decode(spans(5), { maxElements: 6 }))).toEqual({
      path: 'resourceSpans[0].scopeSpans[0].spans[4]',
      reason: 'too many list elements in one request',
    })
  })

  test('maxBytes', () => {
    const body = bodyOf[encoding].spans(1)
    expect(() => decode(body, { maxBytes: body.length })).not.toThrow()
    expect(refusal(() => decode(body, { maxBytes: body.length - 1 }))).toEqual({
      path: '',
      reason: `longer than ${body.length - 1} bytes`,
    })
  })
})

describe('in steps', () => {
  const request = (...scopes: string[]) =>
    Buffer.from(`{"resourceSpans":[{"scopeSpans":[${scopes.map((spans) => `{"spans":[${spans}]}`).join()}]}]}`)
  const span = (id: number) => `{"spanId":"${id.toString(16).padStart(16, '0')}"}`
  const spans = (count: number) => Array.from({ length: count }, (_, index) => span(index + 1)).join()
  const inSteps = (body: Uint8Array, limits: Partial<DecodeLimits> = {}) => {
    const steps = decodeRequestInSteps('traces', body, 'json', { ...limits, itemsPerStep: 3 })
    for (let count = 0; ; count += 1) {
      const { done, value } = steps.next()
      if (done) return { count, value }
    }
  }

  test('a body is decoded as at once', () => {
    const body = request(spans(8), spans(2), spans(4))
    expect(inSteps(body)).toEqual({ count: 6, value: decodeRequest('traces', body, 'json') })
  })

  test.each<[string, Uint8Array, Partial<DecodeLimits>]>([
    ['a wrong id', request(spans(2), `${spans(4)},{"spanId":"x"}`), {}],
    ['a span that is none', request(`${spans(4)},7`), {}],
    ['too many spans', request(spans(4), spans(4)), { maxElements: 9 }],
    ['too long', request(spans(4)), { maxBytes: 9 }],
    ['no JSON', Buffer.from('{"resourceSpans":[{'), {}],
    ['a group that is none', Buffer.from('{"resourceSpans":[7]}'), {}],
  ])('%s is refused as at once', (_, body, limits) => {
    expect(refusal(() => inSteps(body, limits))).toEqual(refusal(() => decodeRequest('traces', body, 'json', limits)))
  })
})
