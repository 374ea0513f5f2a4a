import fc from 'fast-check'
import { expect, test } from 'vitest'
import { requests } from '../arbitraries.harness.ts'
import { signalNames } from '../model/signals.ts'
import type { Signal } from '../model/types.ts'
import { decodeRequest } from './decode-request.ts'
import { joinChunks } from './join-chunks.ts'
import { encodeRequest } from './request-encoder.ts'

const chunk = (signal: Signal, encoding: 'protobuf' | 'json' = 'protobuf') => ({
  signal,
  encoding,
  items: 1,
  body: encodeRequest(signal, { resources: [] }, encoding),
})

test.each(signalNames)('joined chunks decode to the resources of all chunks in order: %s', (signal) => {
  fc.assert(
    fc.property(fc.array(requests(signal), { minLength: 1, maxLength: 4 }), (models) => {
      const joined = joinChunks(
        models.map((model, index) => ({
          signal,
          encoding: 'protobuf',
          items: index + 1,
          body: encodeRequest(signal, model, 'protobuf'),
        })),
      )
      expect(decodeRequest(signal, joined.body, 'protobuf')).toEqual({
        resources: models.flatMap(({ resources }) => resources),
      })
      expect(joined).toMatchObject({ signal, encoding: 'protobuf', items: (models.length * (models.length + 1)) / 2 })
    }),
  )
})

test('a single chunk is unchanged in any encoding', () => {
  const alone = chunk('logs', 'json')
  expect(joinChunks([alone])).toBe(alone)
})

test.each([
  { what: 'none', chunks: [] },
  { what: 'JSON', chunks: [chunk('logs', 'json'), chunk('logs', 'json')] },
  { what: 'two signals', chunks: [chunk('logs'), chunk('traces')] },
])('cannot join $what', ({ chunks }) => {
  expect(() => joinChunks(chunks)).toThrow(/join/)
})
