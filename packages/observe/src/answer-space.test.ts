import { expect, test } from 'vitest'
import { AnswerSpace } from './answer-space.ts'

const query = (...texts: readonly string[]) => ({
  async *stream() {
    for (const text of texts) yield { text }
  },
})

test('rows that fit are listed, and the first that does not ends the answer', async () => {
  const space = new AnswerSpace(250)
  expect(await space.list(query('a'.repeat(50), 'b'.repeat(50)))).toHaveLength(2)
  expect(space.isTruncated).toBe(false)
  expect(await space.list(query('c'.repeat(50), ''))).toEqual([])
  expect(space.isTruncated).toBe(true)
})

test('the first row is listed however long it is', async () => {
  const space = new AnswerSpace(10)
  expect(await space.list(query('a'.repeat(1_000), ''))).toHaveLength(1)
  expect(space.isTruncated).toBe(true)
})
