import { Buffer } from 'node:buffer'
import { expect, test } from 'vitest'
import { JsonAnswer } from './json-answer.ts'

const writtenText = (answer: JsonAnswer): string => {
  const end = answer.end()
  return typeof end === 'string' ? end : Buffer.concat([...end]).toString()
}

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
