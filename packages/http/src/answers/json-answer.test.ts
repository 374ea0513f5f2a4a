import { Buffer } from 'node:buffer'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { JsonAnswer } from './json-answer.ts'
import { heaviestMember, jsonParts } from './json-parts.ts'

const writtenText = (answer: JsonAnswer): string => {
  const end = answer.end()
  return typeof end === 'string' ? end : Buffer.concat([...end]).toString()
}

test('the parts of a value are its JSON', () => {
  const longText = fc
    .string({ unit: fc.constantFrom('a', '"', '\\', '\n', '\u0001', 'é', '😀', '\ud800'), maxLength: 20 })
    .map((text) => text.repeat(8_000))
  const values = fc.jsonValue({ maxDepth: 3 })
  fc.assert(
    fc.property(values, longText, (value, text) => {
      const long = { first: undefined, value, list: [text, undefined, value], text, at: new Date(0), none: null }
      expect([...jsonParts(long)].join('')).toBe(JSON.stringify(long))
    }),
    { numRuns: 10 },
  )
})

test('a surrogate pair at the border of two parts stays one character', () => {
  const text = `${'x'.repeat(256 * 1024 - 1)}😀${'y'.repeat(100_000)}`
  expect(JSON.parse([...jsonParts(text)].join(''))).toBe(text)
})

test('a list that fits is written whole, and the limit counts every byte', async () => {
  const items = [{ a: 'é' }, { a: 'x' }]
  const text = JSON.stringify(items)
  const exact = new JsonAnswer(Buffer.byteLength(text))
  expect([await exact.list(items, (item) => item), writtenText(exact)]).toEqual([2, text])
  const short = new JsonAnswer(Buffer.byteLength(text) - 1)
  expect(await short.list(items, (item) => item)).toBe(1)
})

test('values behind the limit are not converted', async () => {
  const asked: number[] = []
  const answer = new JsonAnswer(1_000_000)
  const fitting = await answer.list([1, 2, 3, 4, 5], (item) => {
    asked.push(item)
    return { text: '"'.repeat(200_000) }
  })
  expect([fitting, asked]).toEqual([2, [1, 2, 3]])
})

test('an empty list and a missing value are JSON', async () => {
  const [empty, missing] = [new JsonAnswer(10), new JsonAnswer(10)]
  await empty.list([], (item) => item)
  expect([await missing.value(undefined), writtenText(missing), writtenText(empty)]).toEqual([true, 'null', '[]'])
})

test('the heaviest member has the most text', () => {
  const row = { title: 'short', labels: [{ description: 'long '.repeat(9) }], description: 'x'.repeat(40) }
  expect([heaviestMember(row), heaviestMember([row]), heaviestMember('text')]).toEqual(['labels', 'labels', undefined])
})
