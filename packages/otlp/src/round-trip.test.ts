import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { chunkHeaders, items, requests } from './arbitraries.harness.ts'
import { decodeRequest } from './messages/decode-request.ts'
import { RequestEncoder } from './messages/request-encoder.ts'
import { signalNames } from './model/signals.ts'

const cases = signalNames.flatMap((signal) => (['protobuf', 'json'] as const).map((encoding) => ({ signal, encoding })))

describe.each(cases)('$signal in $encoding', ({ signal, encoding }) => {
  test('decodes to the model that was encoded', () => {
    const encoder = new RequestEncoder(encoding)
    fc.assert(
      fc.property(requests(signal), (request) => {
        expect(decodeRequest(signal, encoder.encode(signal, request), encoding)).toEqual(request)
      }),
    )
  })

  test('chunks equal whole requests of the same items', () => {
    fc.assert(
      fc.property(
        chunkHeaders,
        fc.array(items(signal), { maxLength: 8 }),
        fc.record({ maxItems: fc.integer({ min: 1, max: 4 }), maxBytes: fc.integer({ min: 0, max: 2_000 }) }),
        (header, list, limits) => {
          const encoder = new RequestEncoder(encoding)
          const writer = encoder.chunks(signal, header, limits)
          const chunks = [...list.map((item) => writer.add(item)), writer.end()].filter((chunk) => chunk !== undefined)
          let taken = 0
          for (const chunk of chunks) {
            const chunkItems = list.slice(taken, taken + chunk.items)
            taken += chunk.items
            const scopes = [{ scope: header.scope, items: chunkItems, schemaUrl: header.scopeSchemaUrl }]
            const request = { resources: [{ resource: header.resource, scopes, schemaUrl: header.resourceSchemaUrl }] }
            expect(Buffer.compare(chunk.body, encoder.encode(signal, request as never))).toBe(0)
            expect(chunk.items).toBeLessThanOrEqual(limits.maxItems)
            if (chunk.items > 1) expect(chunk.body.length).toBeLessThanOrEqual(limits.maxBytes)
          }
          expect(taken).toBe(list.length)
        },
      ),
    )
  })

  test('a chunk may be exactly as long as the limit', () => {
    const [first, second] = fc.sample(items(signal), { seed: 4, numRuns: 2 })
    const [header] = fc.sample(chunkHeaders, { seed: 4, numRuns: 1 })
    const encoder = new RequestEncoder(encoding)
    const chunkCount = (maxBytes: number) => {
      const writer = encoder.chunks(signal, header!, { maxItems: 9, maxBytes })
      return [writer.add(first!), writer.add(second!), writer.end()].filter((chunk) => chunk !== undefined).length
    }
    const writer = encoder.chunks(signal, header!, { maxItems: 9, maxBytes: Number.POSITIVE_INFINITY })
    writer.add(first!)
    writer.add(second!)
    const { length } = writer.end()!.body
    expect(chunkCount(length)).toBe(1)
    expect(chunkCount(length - 1)).toBe(2)
  })
})
