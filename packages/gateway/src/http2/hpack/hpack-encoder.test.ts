import fc from 'fast-check'
import { expect, test } from 'vitest'
import { HpackDecoder } from './hpack-decoder.ts'
import { encodeFields } from './hpack-encoder.ts'

test.each([
  [[':status', '200'], '88'],
  [['accept-encoding', 'gzip, deflate'], '90'],
  [[':status', '201'], '0803323031'],
  [['content-type', 'a'], '0f100161'],
  [['www-authenticate', ''], 'bd'],
  [['x-a', 'b'], '0003782d610162'],
  [['x-a', '\xe9'], '0003782d6101e9'],
  [[], ''],
])('encodes %j', (fields, hex) => {
  expect(Buffer.from(encodeFields(fields)).toString('hex')).toBe(hex)
})

test('the decoder decodes what the encoder writes', () => {
  const unit = fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code))
  const text = fc.oneof(
    fc.string({ unit, maxLength: 40 }),
    fc.constantFrom('x'.repeat(126), 'x'.repeat(127), 'x'.repeat(254), 'x'.repeat(255), 'x'.repeat(17_000)),
  )
  const pair = fc.tuple(fc.oneof(text, fc.constantFrom(':status', 'content-type', 'www-authenticate')), text)
  fc.assert(
    fc.property(fc.array(pair, { maxLength: 10 }), (pairs) => {
      const decoder = new HpackDecoder({ tableBytes: 4096, maxListBytes: 1e9, maxFields: 100 })
      expect(decoder.decode(encodeFields(pairs.flat()))).toEqual(pairs.flat())
    }),
  )
})
