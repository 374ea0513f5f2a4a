import fc from 'fast-check'
import { expect, test } from 'vitest'
import { countRecords } from './framing.ts'
import { traceBody } from './model-upstream.case.ts'

const hex = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex')

test.each([
  ['', 0],
  ['0a 00', 1],
  ['0a 03 01 02 03', 1],
  ['0a 01 ff 0a 00 0a 02 0a 0a', 3],
  [`0a 80 01 ${'00'.repeat(128)}`, 1],
])('C-2: %s is %i records', (text, records) => {
  expect(countRecords(hex(text))).toBe(records)
})

test.each([
  ['a record that claims more than there is', '0a 05'],
  ['a record that claims what the next body brings', '0a 03 01 02'],
  ['a tag without a length', '0a 00 0a'],
  ['a length that does not end', '0a 80'],
  ['a start of a group', '13'],
  ['an end of a group', '14'],
  ['another field', '0a 00 12 00'],
  ['field 1 as a number', '08 01'],
  ['a length with a byte too many', '0a 80 00'],
  ['a length with a byte too many behind a real one', '0a 81 00 07'],
  ['a length of more than 28 bits', '0a ff ff ff ff 0f'],
  ['a length of 64 bits that ends in small ones', '0a 80 80 80 80 10'],
  ['a tag with a byte too many', '8a 00 00'],
  ['something behind the last record', '0a 01 07 00'],
])('C-2: %s is not records', (_, text) => {
  expect(countRecords(hex(text))).toBe(-1)
})

test('6.3: the records of bodies joined are those of each', () => {
  const bodies = fc.array(fc.oneof(fc.uint8Array({ maxLength: 12 }), fc.constantFrom(traceBody(['a']), hex('0a00'))))
  fc.assert(
    fc.property(bodies, (all) => {
      const framed = all.filter((body) => countRecords(body) >= 0)
      const records = framed.reduce((sum, body) => sum + countRecords(body), 0)
      expect(countRecords(Buffer.concat(framed))).toBe(records)
    }),
  )
})
