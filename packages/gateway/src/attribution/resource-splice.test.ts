import { decodeRequest, encodeRequest, type KeyValue, type OtlpRequest, type Signal } from '@penstock/otlp'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { requests } from '../../../otlp/src/arbitraries.harness.ts'
import type { TokenRecord } from '../contract/token-record.ts'
import { spliceJson } from './json-resource-splice.ts'
import { ownerAttributesOf } from './owner-attributes.ts'
import { spliceProtobuf } from './resource-splice.ts'

const token = { id: '7Hq2mK9sT4bZ', name: 'ci "läufer"' } as TokenRecord
const owner = ownerAttributesOf(token)
const ours: KeyValue[] = [
  { key: 'ingest.token.id', type: 'string', value: '7Hq2mK9sT4bZ' },
  { key: 'ingest.token.name', type: 'string', value: 'ci "läufer"' },
]
const MAX_BYTES = 8 * 1024 * 1024
const isOurKey = ({ key }: KeyValue) => key === 'ingest.token.id' || key === 'ingest.token.name'

const spliced = {
  protobuf: (_signal: Signal, body: Uint8Array) => spliceProtobuf(body, owner.protobuf, MAX_BYTES),
  json: (signal: Signal, body: Uint8Array) => spliceJson(signal, body, owner.json, MAX_BYTES),
}

const spoofs: fc.Arbitrary<KeyValue> = fc.record({
  key: fc.constantFrom('ingest.token.id', 'ingest.token.name'),
  type: fc.constant('string' as const),
  value: fc.string(),
})

/** Generates a request with spoofed attributes at random places, and the expected result. */
function spoofedRequests(signal: Signal): fc.Arbitrary<{ sent: OtlpRequest; expected: OtlpRequest }> {
  return fc
    .tuple(
      requests(signal) as fc.Arbitrary<OtlpRequest>,
      fc.array(fc.tuple(fc.nat(9), fc.nat(9), spoofs), { maxLength: 6 }),
    )
    .map(([request, put]) => {
      const own = request.resources.map((group) =>
        group.resource.attributes.filter((attribute) => !isOurKey(attribute)),
      )
      const sent = own.map((attributes) => [...attributes])
      for (const [group, place, spoof] of put) {
        const attributes = sent[group % Math.max(1, sent.length)]
        attributes?.splice(place % (attributes.length + 1), 0, spoof)
      }
      const withAttributes = (lists: KeyValue[][]): OtlpRequest => ({
        ...request,
        resources: request.resources.map((group, index) => ({
          ...group,
          resource: { ...group.resource, attributes: lists[index] ?? [] },
        })) as OtlpRequest['resources'],
      })
      return { sent: withAttributes(sent), expected: withAttributes(own.map((attributes) => [...attributes, ...ours])) }
    })
}

describe.each(['traces', 'metrics', 'logs'] as const)('X-11: %s', (signal) => {
  test.each(['protobuf', 'json'] as const)(
    'gives each resource in %s exactly the token attributes, and changes nothing else',
    (encoding) => {
      fc.assert(
        fc.property(spoofedRequests(signal), ({ sent, expected }) => {
          const body = spliced[encoding](signal, encodeRequest(signal, sent as never, encoding))
          expect(decodeRequest(signal, body, encoding)).toEqual(expected)
        }),
        { numRuns: 60 },
      )
    },
  )

  test('does not change protobuf that already has the token attributes', () => {
    fc.assert(
      fc.property(spoofedRequests(signal), ({ sent }) => {
        const once = spliced.protobuf(signal, encodeRequest(signal, sent as never, 'protobuf'))
        expect(spliced.protobuf(signal, once)).toEqual(once)
      }),
      { numRuns: 20 },
    )
  })
})

const bytes = (...parts: (number | string | Uint8Array)[]): Buffer =>
  Buffer.concat(parts.map((part) => (typeof part === 'number' ? Buffer.from([part]) : Buffer.from(part as string))))
const field = (number: number, ...inside: (number | string | Uint8Array)[]): Buffer => {
  const value = bytes(...inside)
  return bytes(number * 8 + 2, value.length, value)
}
const attribute = (key: string, value: string) => field(1, field(1, key), field(2, field(1, value)))

describe('X-11: protobuf', () => {
  test('adds a Resource to a group without one', () => {
    const scope = field(2, 0x12, 0)
    const body = spliceProtobuf(field(1, scope), owner.protobuf, MAX_BYTES)
    expect(Buffer.from(body)).toEqual(field(1, field(1, owner.protobuf), scope))
  })

  test('keeps an empty request empty, and keeps unknown fields in place', () => {
    expect(spliceProtobuf(new Uint8Array(0), owner.protobuf, MAX_BYTES)).toHaveLength(0)
    const later = bytes(field(9, 'later'), 0x50, 7)
    expect(Buffer.from(spliceProtobuf(later, owner.protobuf, MAX_BYTES))).toEqual(later)
  })

  test('merges two Resources of one group and removes spoofed attributes from both', () => {
    const body = field(
      1,
      field(1, attribute('service.name', 'cart'), attribute('ingest.token.id', 'spoof')),
      field(3, 'schema'),
      field(1, attribute('ingest.token.name', 'spoof'), 0x10, 3),
    )
    expect(Buffer.from(spliceProtobuf(body, owner.protobuf, MAX_BYTES))).toEqual(
      field(1, field(1, attribute('service.name', 'cart'), 0x10, 3, owner.protobuf), field(3, 'schema')),
    )
  })

  test('uses the last key if an attribute has two, as decoders do', () => {
    const spoof = field(1, field(1, 'harmless'), field(1, 'ingest.token.id'), field(2, field(1, 'spoof')))
    const harmless = field(1, field(1, 'ingest.token.id'), field(1, 'harmless'))
    expect(Buffer.from(spliceProtobuf(field(1, field(1, spoof, harmless)), owner.protobuf, MAX_BYTES))).toEqual(
      field(1, field(1, harmless, owner.protobuf)),
    )
  })

  test('finds a spoofed attribute with a padded length', () => {
    const inside = bytes(0x0a, 0x8f, 0x80, 0x00, 'ingest.token.id')
    const body = field(1, field(1, field(1, inside)))
    expect(Buffer.from(spliceProtobuf(body, owner.protobuf, MAX_BYTES))).toEqual(field(1, field(1, owner.protobuf)))
  })

  test.each([
    ['a length beyond the end', bytes(0x0a, 5)],
    ['an unclosed group', bytes(0x1b)],
    ['text', bytes('no telemetry')],
    ['a broken Resource', field(1, field(1, 0x0a, 9))],
    ['a broken attribute', field(1, field(1, field(1, 0x0a, 9)))],
  ])('refuses %s', (_case, body) => {
    expect(() => spliceProtobuf(body, owner.protobuf, MAX_BYTES)).toThrow(expect.objectContaining({ kind: 'bad_body' }))
  })

  test('refuses a body that has too many groups or too many fields', () => {
    const tooLarge = expect.objectContaining({ kind: 'body_too_large' })
    expect(() => spliceProtobuf(Buffer.alloc(200_000, bytes(0x0a, 0)), owner.protobuf, 1_000_000)).toThrow(tooLarge)
    expect(() => spliceProtobuf(Buffer.alloc(2_100_000, bytes(0x10, 0)), owner.protobuf, MAX_BYTES)).toThrow(tooLarge)
  })
})

describe('X-11, P-18: JSON', () => {
  const OURS =
    '{"key":"ingest.token.id","value":{"stringValue":"7Hq2mK9sT4bZ"}},{"key":"ingest.token.name","value":{"stringValue":"ci \\"läufer\\""}}'
  const spliceText = (text: string) =>
    Buffer.from(spliceJson('traces', Buffer.from(text), owner.json, MAX_BYTES)).toString()

  test.each([
    ['{}', '{}'],
    [' { "resourceSpans" : [ ] } ', ' { "resourceSpans" : [ ] } '],
    ['{"resourceSpans":null,"x":[1e400,9007199254740993]}', '{"resourceSpans":null,"x":[1e400,9007199254740993]}'],
    ['{"resourceSpans":[{}]}', `{"resourceSpans":[{"resource":{"attributes":[${OURS}]}}]}`],
    [
      '{"resourceSpans":[{"schemaUrl":"s"}]}',
      `{"resourceSpans":[{"resource":{"attributes":[${OURS}]},"schemaUrl":"s"}]}`,
    ],
    ['{"resourceSpans":[{"resource":null}]}', `{"resourceSpans":[{"resource":{"attributes":[${OURS}]}}]}`],
    ['{"resourceSpans":[{"resource":{}}]}', `{"resourceSpans":[{"resource":{"attributes":[${OURS}]}}]}`],
    [
      '{"resourceSpans":[{"resource":{"attributes":null}}]}',
      `{"resourceSpans":[{"resource":{"attributes":[${OURS}]}}]}`,
    ],
    [
      '{"resourceSpans":[{"resource":{"attributes":[ ]}}]}',
      `{"resourceSpans":[{"resource":{"attributes":[${OURS} ]}}]}`,
    ],
    [
      '{"resource_spans":[{"resource":{"attributes":[{"key":"a","value":{"intValue":9007199254740993}}],"z":1}},{"resource":{}}]}',
      `{"resource_spans":[{"resource":{"attributes":[{"key":"a","value":{"intValue":9007199254740993}},${OURS}],"z":1}},{"resource":{"attributes":[${OURS}]}}]}`,
    ],
    [
      '{"resourceSpans":[{"resource":{"attributes":[{"key":"ingest.token.id"},{"key":"a"}, {"\\u006bey":"ingest\\u002etoken.name"} ]}}]}',
      `{"resourceSpans":[{"resource":{"attributes":[{"key":"a"}, ${OURS} ]}}]}`,
    ],
    [
      '{"resourceSpans":[{"resource":{"attributes":[{"key":"ingest.token.id"}]}}]}',
      `{"resourceSpans":[{"resource":{"attributes":[${OURS}]}}]}`,
    ],
    ['{"a\\\\":"\\"]}","resourceSpans":[]}', '{"a\\\\":"\\"]}","resourceSpans":[]}'],
  ])('%s', (text, expected) => {
    expect(spliceText(text)).toBe(expected)
  })

  test.each([
    '',
    '[]',
    '{',
    '{"resourceSpans":[{]}',
    '{"resourceSpans":[1]}',
    '{"resourceSpans":[{}],}',
    '{"resourceSpans":[{}],"resource_spans":[]}',
    '{"resourceSpans":[{"resource":{},"resource":{}}]}',
    '{"resourceSpans":[{"resource":{"attributes":[],"\\u0061ttributes":[]}}]}',
    '{"resourceSpans":[{"resource":{"attributes":[{"key":"a","key":"ingest.token.id"}]}}]}',
    '{"resourceSpans":[{"resource":{"attributes":[{"key":7}]}}]}',
    '{"resourceSpans":[]} {}',
    '{"a":"unterminated\\"}',
    '\ufeff{}',
  ])('refuses %s', (text) => {
    expect(() => spliceText(text)).toThrow(expect.objectContaining({ kind: 'bad_body' }))
  })

  test('refuses deeply nested JSON without overflowing the stack', () => {
    const nested = (depth: number) => `{"a":${'['.repeat(depth)}${']'.repeat(depth)}}`
    expect(spliceText(nested(511))).toBe(nested(511))
    expect(() => spliceText(nested(512))).toThrow(expect.objectContaining({ kind: 'bad_body' }))
    expect(() => spliceText(nested(1_000_000))).toThrow(expect.objectContaining({ kind: 'bad_body' }))
  })

  test('preserves the text of everything else', () => {
    const values = fc.array(fc.jsonValue(), { maxLength: 5 })
    fc.assert(
      fc.property(values, fc.constantFrom(undefined, 1, '\t'), (scopeSpans, indent) => {
        const text = JSON.stringify(
          { before: scopeSpans, resourceSpans: [{ scopeSpans }], after: scopeSpans },
          undefined,
          indent,
        )
        const brace = /"resourceSpans":\s*\[\s*\{/.exec(text)
        const at = (brace?.index ?? 0) + (brace?.[0].length ?? 0)
        expect(spliceText(text)).toBe(`${text.slice(0, at)}"resource":{"attributes":[${OURS}]},${text.slice(at)}`)
      }),
    )
  })
})
