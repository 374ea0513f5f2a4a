import { expect, test } from 'vitest'
import { AnswerTooLarge, ResponseBudget } from './response-budget.ts'

const query = (...texts: readonly string[]) => ({
  async *stream() {
    for (const text of texts) yield { text }
  },
})
const listed = {
  toItem: ({ text }: { text: string }) => ({ long: text }),
  positionOf: ({ text }: { text: string }) => [text],
}
/** The bytes of an item besides its text, with a comma. */
const AROUND = '{"long":""},'.length

test('lists the items that fit, and ends at the first that does not', async () => {
  const budget = new ResponseBudget(2 * (AROUND + 50))
  expect(await budget.list(query('a'.repeat(50), 'b'.repeat(50)), listed)).toHaveLength(2)
  expect(budget.isTruncated).toBe(false)
  expect(await budget.list(query('c'.repeat(50), ''), listed)).toEqual([])
  expect(budget.isTruncated).toBe(true)
})

test.each([
  ['a quote', '"', 2],
  ['a control character', '\u0001', 6],
  ['a character outside ASCII', '字', 3],
])('counts the bytes of JSON: %s', async (_, character, bytes) => {
  const text = character.repeat(10)
  const exact = new ResponseBudget(2 * (AROUND + 10 * bytes))
  expect(await exact.list(query(text, text), listed)).toHaveLength(2)
  const short = new ResponseBudget(2 * (AROUND + 10 * bytes) - 1)
  expect(await short.list(query(text, text), listed)).toHaveLength(1)
})

test('nothing fits after an item that does not, however short it is', () => {
  const budget = new ResponseBudget(20)
  expect([budget.take('a'), budget.take('b'.repeat(100)), budget.take('c')]).toEqual([true, false, false])
})

test('refuses a first item that does not fit, with its member and position', async () => {
  const refused = new ResponseBudget(10).list(query('a'.repeat(100), ''), listed)
  await expect(refused).rejects.toThrow(AnswerTooLarge)
  await expect(refused).rejects.toMatchObject({ member: 'long', position: ['a'.repeat(100)] })
})
