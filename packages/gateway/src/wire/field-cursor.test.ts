import { expect, test } from 'vitest'
import { FieldCursor } from './field-cursor.ts'

const fieldsOf = (...bytes: number[]) => {
  const cursor = new FieldCursor(Uint8Array.from(bytes))
  const fields: number[][] = []
  while (cursor.next()) fields.push([cursor.number, cursor.wireType, cursor.start, cursor.valueStart, cursor.end])
  return fields
}

test('reports number, wire type, start, value start and end of a field of each wire type', () => {
  expect(fieldsOf(0x08, 0x96, 0x01, 0x12, 2, 65, 66, 0x1d, 1, 2, 3, 4, 0x21, 1, 2, 3, 4, 5, 6, 7, 8)).toEqual([
    [1, 0, 0, 1, 3],
    [2, 2, 3, 5, 7],
    [3, 5, 7, 8, 12],
    [4, 1, 12, 13, 21],
  ])
})

test('accepts a length that is padded with zero bits', () => {
  expect(fieldsOf(0x0a, 0x82, 0x80, 0x00, 65, 66)).toEqual([[1, 2, 0, 4, 6]])
})

test.each([
  ['a length beyond the end', [0x0a, 5, 1]],
  ['a length of 2^63', [0x0a, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1]],
  ['an unterminated varint', [0x08, ...new Array(11).fill(0x80)]],
  ['a message that ends in a tag', [0x80]],
  ['a group', [0x0b, 0x0c]],
  ['wire type 7', [0x0f]],
  ['field number 0', [0x02, 0]],
  ['a truncated fixed64', [0x09, 1, 2, 3]],
])('refuses %s', (_case, bytes) => {
  expect(() => fieldsOf(...bytes)).toThrow(expect.objectContaining({ kind: 'bad_body' }))
})
