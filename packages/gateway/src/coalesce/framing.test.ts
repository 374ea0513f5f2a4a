import fc from 'fast-check'
import { expect, test } from 'vitest'
import { countRecords } from './framing.ts'
import { traceBody } from './model-upstream.harness.ts'

const hex = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex')

test.each([
  ['', 0],
  ['0a 00', 1],
  ['0a 03 01 02 03', 1],
  ['0a 01 ff 0a 00 0a 02 0a 0a', 3],
  [`0a 80 01 ${'00'.repeat(128)}`, 1],
])('C-2: counts records: %s has %i', (text, records) => {
  expect(countRecords(hex(text))).toBe(records)
})

test.each([
  ['a record beyond the end', '0a 05'],
  ['a record that would swallow the next body', '0a 03 01 02'],
  ['a tag without a length', '0a 00 0a'],
  ['an unterminated length', '0a 80'],
  ['a start of a group', '13'],
  ['an end of a group', '14'],
  ['another field', '0a 00 12 00'],
  ['field 1 as a number', '08 01'],
  ['a padded length', '0a 80 00'],
  ['a padded length above 0', '0a 81 00 07'],
  ['a length of more than 28 bits', '0a ff ff ff ff 0f'],
  ['a length of 64 bits with small low bits', '0a 80 80 80 80 10'],
  ['a padded tag', '8a 00 00'],
  ['data after the last record', '0a 01 07 00'],
])('C-2: rejects %s', (_, text) => {
  expect(countRecords(hex(text))).toBe(-1)
})

test('joined bodies have the records of their parts', () => {
  const bodies = fc.array(fc.oneof(fc.uint8Array({ maxLength: 12 }), fc.constantFrom(traceBody(['a']), hex('0a00'))))
  fc.assert(
    fc.property(bodies, (all) => {
      const framed = all.filter((body) => countRecords(body) >= 0)
      const records = framed.reduce((sum, body) => sum + countRecords(body), 0)
      expect(countRecords(Buffer.concat(framed))).toBe(records)
    }),
  )
})
