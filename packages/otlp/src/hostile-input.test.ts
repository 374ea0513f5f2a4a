import fc from 'fast-check'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { requests } from './arbitraries.harness.ts'
import { OtlpDecodeError } from './bytes/decode-error.ts'
import { decodeRequest } from './messages/decode-request.ts'
import type { Encoding } from './messages/encoding.ts'
import { encodeRequest } from './messages/request-encoder.ts'
import { signalNames } from './model/signals.ts'
import type { Signal } from './model/types.ts'

/** Expects a request that can be encoded and decoded again, or an OtlpDecodeError. */
function expectRequestOrRefusal(signal: Signal, bytes: Uint8Array, encoding: Encoding): void {
  try {
    const request = decodeRequest(signal, bytes, encoding)
    expect(decodeRequest(signal, encodeRequest(signal, request, encoding), encoding)).toEqual(request)
  } catch (error) {
    if (!(error instanceof OtlpDecodeError)) throw error
  }
}

const signal = fc.constantFrom(...signalNames)
const encodings: Encoding[] = ['protobuf', 'json']

/** Changes to a few bytes of a valid body: overwritten, removed or inserted. */
const edits = fc.array(
  fc.record({
    at: fc.double({ min: 0, max: 0.999, noNaN: true }),
    drop: fc.nat(3),
    insert: fc.uint8Array({ maxLength: 4 }),
  }),
  { minLength: 1, maxLength: 4 },
)

function edited(body: Uint8Array, changes: { at: number; drop: number; insert: Uint8Array }[]): Uint8Array {
  return changes.reduce((bytes, { at, drop, insert }) => {
    const from = Math.floor(at * bytes.length)
    return Buffer.concat([bytes.subarray(0, from), insert, bytes.subarray(from + drop)])
  }, body)
}

describe.each(encodings)('%s', (encoding) => {
  test('random bytes', () => {
    fc.assert(
      fc.property(signal, fc.uint8Array({ maxLength: 200 }), (name, bytes) =>
        expectRequestOrRefusal(name, bytes, encoding),
      ),
      {
        numRuns: 1000,
      },
    )
  })

  test.each(signalNames)('damaged %s', (name) => {
    fc.assert(
      fc.property(requests(name), edits, (request, changes) => {
        expectRequestOrRefusal(name, edited(encodeRequest(name, request, encoding), changes), encoding)
      }),
      { numRuns: 300 },
    )
  })

  test.each(signalNames)('truncated %s', (name) => {
    fc.assert(
      fc.property(requests(name), fc.nat(), (request, cut) => {
        const body = encodeRequest(name, request, encoding)
        expectRequestOrRefusal(name, body.subarray(0, cut % (body.length + 1)), encoding)
      }),
    )
  })
})

const jsonKeys = [
  'resourceSpans',
  'scopeSpans',
  'spans',
  'attributes',
  'key',
  'value',
  'values',
  'arrayValue',
  'kvlistValue',
]
const otlpLikeJson = fc.letrec((tie) => ({
  node: fc.oneof(
    { maxDepth: 8 },
    fc.constantFrom(null, true, 1, -1.5, 'x', '', '1', 'NaN'),
    fc.array(tie('node'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...jsonKeys, '__proto__', 'constructor'), tie('node'), { maxKeys: 4 }),
  ),
})).node

test('JSON with valid keys and random types', () => {
  fc.assert(
    fc.property(otlpLikeJson, (json) => expectRequestOrRefusal('traces', Buffer.from(JSON.stringify(json)), 'json')),
    { numRuns: 1000 },
  )
})

test('a hundred thousand nested brackets in known and unknown members', () => {
  const brackets = '['.repeat(100_000) + ']'.repeat(100_000)
  expectRequestOrRefusal('traces', Buffer.from(`{"unknown":${brackets},"resourceSpans":${brackets}}`), 'json')
})

test('decoding many two-byte elements stops at the limit', () => {
  const bomb = Buffer.alloc(8 * 1024 * 1024, Uint8Array.of(0x0a, 0x00))
  expect(() => decodeRequest('traces', bomb, 'protobuf')).toThrow(/too many list elements/)
})

test.each([
  ['objects in a list that is known', `{"resourceSpans":[${'{},'.repeat(50_000)}{}]}`, /arrays and objects/],
  ['objects in a list that is unknown', `{"unknown":[${'{},'.repeat(50_000)}{}]}`, /arrays and objects/],
  ['numbers', `{"unknown":[${'1,'.repeat(100_000)}1]}`, /values/],
  ['levels', `{"unknown":${'['.repeat(100_000)}`, /nested deeper/],
])('JSON with too many %s is refused before it is parsed', (_, json, reason) => {
  const parse = vi.spyOn(JSON, 'parse')
  onTestFinished(() => parse.mockRestore())
  expect(() => decodeRequest('traces', Buffer.from(json), 'json', { maxElements: 10_000 })).toThrow(reason)
  expect(parse).not.toHaveBeenCalled()
})

describe('requests within the limits of the model are within the limits of its JSON', () => {
  const limits = { maxElements: 11_000, maxDepth: 32 }
  const attribute = (key: number) => ({ key: `${key}`, value: { stringValue: 'v' } })
  const attributes = Array.from({ length: 9 }, (_, key) => attribute(key))
  const fill = <Item>(count: number, item: Item) => Array.from({ length: count }, () => item)
  const nested = (levels: number): object =>
    levels === 1 ? { stringValue: 'v' } : { kvlistValue: { values: [{ key: 'k', value: nested(levels - 1) }] } }
  const ids = { traceId: '1'.repeat(32), spanId: '2'.repeat(16) }
  const buckets = { offset: 1, bucketCounts: ['1', '2', '3'] }

  test.each([
    [
      'traces',
      'spans with attributes',
      {
        resourceSpans: [
          {
            scopeSpans: [
              {
                spans: fill(1_000, {
                  ...ids,
                  parentSpanId: ids.spanId,
                  name: 'n',
                  kind: 1,
                  status: { code: 1 },
                  attributes,
                }),
              },
            ],
          },
        ],
      },
    ],
    [
      'traces',
      'the deepest value',
      {
        resourceSpans: [{ scopeSpans: [{ spans: [{ events: [{ attributes: [{ key: 'k', value: nested(32) }] }] }] }] }],
      },
    ],
    [
      'metrics',
      'points of exponential histograms',
      {
        resourceMetrics: [
          {
            scopeMetrics: [
              {
                metrics: [
                  {
                    name: 'm',
                    exponentialHistogram: {
                      dataPoints: fill(900, {
                        attributes: attributes.slice(0, 5),
                        timeUnixNano: '1',
                        startTimeUnixNano: '1',
                        count: '3',
                        scale: 1,
                        zeroCount: '1',
                        positive: buckets,
                        negative: buckets,
                      }),
                    },
                  },
                ],
              },
            ],
          },
        ],
      },
    ],
    [
      'logs',
      'records',
      { resourceLogs: [{ scopeLogs: [{ logRecords: fill(10_900, { body: { stringValue: 'b' } }) }] }] },
    ],
  ] as const)('%s: %s', (name, _, request) => {
    expect(() => decodeRequest(name, Buffer.from(JSON.stringify(request)), 'json', limits)).not.toThrow()
  })
})
