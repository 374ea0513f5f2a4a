import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { anyValues, items, keyValues } from '../arbitraries.harness.ts'
import type { ItemBySignal, KeyValue, OtlpRequest, Signal } from '../model/types.ts'
import { emptyResource, emptyScope } from '../schema/schema.ts'
import type { Encoding } from './encoding.ts'
import { encodeRequest, RequestEncoder } from './request-encoder.ts'

// An encoder caches what it has written. A used encoder must write the same bytes as a new one.

function requestOf<S extends Signal>(list: readonly ItemBySignal[S][]): OtlpRequest<S> {
  return {
    resources: [
      { resource: emptyResource, scopes: [{ scope: emptyScope, items: list, schemaUrl: '' }], schemaUrl: '' },
    ],
  }
}

function* lengths(attributes: readonly KeyValue[]): Generator<readonly KeyValue[]> {
  for (let from = 0; from < attributes.length; from += 7) yield attributes.slice(from)
}

/** Compares bytes with a single number, because printing the difference of two long arrays takes minutes. */
function expectSame(actual: Uint8Array, expected: Uint8Array): void {
  expect(Buffer.compare(actual, expected)).toBe(0)
}

describe.each<Encoding>(['protobuf', 'json'])('%s', (encoding) => {
  test('attributes shared by identity, before, after and between others', () => {
    const attributeLists = fc.array(keyValues, { minLength: 16, maxLength: 40 })
    fc.assert(
      fc.property(
        attributeLists,
        fc.array(keyValues, { maxLength: 3 }),
        items('traces'),
        items('logs'),
        (shared, own, span, record) => {
          const encoder = new RequestEncoder(encoding)
          const sameEnd = shared.with(3, { key: 'other', type: 'bool', value: true })
          const changed = [shared.toSpliced(5, 1), shared.toSpliced(9, 1, ...own), shared.toSpliced(2, 0, ...own)]
          const others = [[...own, ...shared], [...shared, ...own], ...changed, ...lengths(shared), shared.toReversed()]
          const lists = [shared, sameEnd, shared, ...others]
          const spans = requestOf<'traces'>(lists.map((attributes) => ({ ...span, attributes })))
          const records = requestOf<'logs'>(lists.map((attributes) => ({ ...record, attributes })))
          for (const _ of [1, 2]) {
            expectSame(encoder.encode('traces', spans), encodeRequest('traces', structuredClone(spans), encoding))
            expectSame(encoder.encode('logs', records), encodeRequest('logs', structuredClone(records), encoding))
          }
        },
      ),
      { numRuns: 30 },
    )
  })

  test('metrics that share their data by identity', () => {
    fc.assert(
      fc.property(items('metrics'), items('metrics'), (first, second) => {
        const list = [first, { ...second, data: first.data }, second, { ...first, data: second.data }, first]
        const encoder = new RequestEncoder(encoding)
        const expected = encodeRequest('metrics', structuredClone(requestOf<'metrics'>(list)), encoding)
        for (const _ of [1, 2]) expectSame(encoder.encode('metrics', requestOf<'metrics'>(list)), expected)
      }),
      { numRuns: 50 },
    )
  })

  test('repeated keys with the same value, another value, another type', () => {
    const key = fc.constantFrom('', 'a', 'job.name', 'cicd.pipeline.task.run.result', 'ключ', 'k'.repeat(300))
    const text = fc.constantFrom('', 'success', 'failure', 'naïve 🚀', 'x'.repeat(90), 'y'.repeat(400))
    const any = fc.oneof(
      text.map((value) => ({ type: 'string' as const, value })),
      anyValues,
    )
    const attribute: fc.Arbitrary<KeyValue> = fc.tuple(key, any).map(([name, value]) => ({ key: name, ...value }))
    const lists = fc.array(fc.array(attribute, { maxLength: 12 }), { maxLength: 6 })
    const encoder = new RequestEncoder(encoding)
    fc.assert(
      fc.property(items('logs'), lists, (record, attributeLists) => {
        const request = requestOf<'logs'>(attributeLists.map((attributes) => ({ ...record, attributes })))
        expectSame(encoder.encode('logs', request), encodeRequest('logs', request, encoding))
      }),
    )
  })

  test.each([
    ['array', 'kvlist'],
    ['kvlist', 'array'],
  ] as const)('a list shared by identity as the value of %s and then of %s', (first, second) => {
    const [record] = fc.sample(items('logs'), { seed: 4, numRuns: 1 }) as [ItemBySignal['logs']]
    const shared: readonly KeyValue[] = [{ key: 'inner', type: 'int', value: 1n }]
    const encoded = (list: () => readonly KeyValue[]) => {
      const types = [first, first, first, second, second, first]
      const lists = types.map((type): KeyValue[] => [{ key: 'k', type, value: list() }])
      return encodeRequest('logs', requestOf<'logs'>(lists.map((attributes) => ({ ...record, attributes }))), encoding)
    }
    expectSame(
      encoded(() => shared),
      encoded(() => [...shared]),
    )
  })

  test('more keys and lists than the cache stores', () => {
    const record = fc.sample(items('logs'), { seed: 1, numRuns: 1 })[0] as ItemBySignal['logs']
    const encoder = new RequestEncoder(encoding)
    const lists = Array.from({ length: 300 }, (_, list) =>
      Array.from({ length: 20 }, (_, index): KeyValue => {
        const key = `${'key'.repeat(20)}.${list % 200}.${index}`
        return { key, type: 'string', value: `value ${index}` }
      }),
    )
    const request = requestOf<'logs'>([...lists, ...lists].map((attributes) => ({ ...record, attributes })))
    const expected = encodeRequest('logs', request, encoding)
    for (const _ of [1, 2, 3]) expectSame(encoder.encode('logs', request), expected)
  })

  test('returned bodies do not change when the encoder is used again', () => {
    const header = { resource: emptyResource, scope: emptyScope, resourceSchemaUrl: '', scopeSchemaUrl: '' }
    const [first, second] = fc.sample(items('traces'), { seed: 2, numRuns: 2 }) as [
      ItemBySignal['traces'],
      ItemBySignal['traces'],
    ]
    const encoder = new RequestEncoder(encoding)
    const writer = encoder.chunks('traces', header, { maxItems: 1, maxBytes: 1e6 })
    writer.add(first)
    const body = writer.add(second)?.body
    const copy = body?.slice()
    writer.end()
    encoder.encode('traces', requestOf<'traces'>([second, first]))
    expect(body).toEqual(copy)
    expect(writer.end()).toBeUndefined()
  })

  test('an item that cannot be encoded does not change the chunk', () => {
    const header = { resource: emptyResource, scope: emptyScope, resourceSchemaUrl: '', scopeSchemaUrl: '' }
    const [span] = fc.sample(items('traces'), { seed: 3, numRuns: 1 }) as [ItemBySignal['traces']]
    const writer = new RequestEncoder(encoding).chunks('traces', header)
    writer.add(span)
    expect(() => writer.add({ ...span, traceId: 'XYZ' })).toThrow(TypeError)
    expect(() => writer.add({ ...span, traceId: 'A'.repeat(32) })).toThrow(TypeError)
    expect(() => writer.add({ ...span, startTimeUnixNano: -1n })).toThrow(RangeError)
    expect(() => writer.add({ ...span, droppedEventsCount: 1.5 })).toThrow(RangeError)
    expect(() => writer.add({ ...span, attributes: [{ key: 'k', type: 'int', value: 2n ** 63n }] })).toThrow(RangeError)
    expect(writer.end()?.body).toEqual(encodeRequest('traces', requestOf<'traces'>([span]), encoding))
  })
})
