import { expect, test } from 'vitest'
import { AnswerSpace } from './answer-space.ts'

const query = (...texts: readonly string[]) => ({
  async *stream() {
    for (const text of texts) yield { text }
  },
})

test('lists the rows that fit, and ends at the first that does not', async () => {
  const space = new AnswerSpace(250)
  expect(await space.list(query('a'.repeat(50), 'b'.repeat(50)))).toHaveLength(2)
  expect(space.isTruncated).toBe(false)
  expect(await space.list(query('c'.repeat(50), ''))).toEqual([])
  expect(space.isTruncated).toBe(true)
})

test('always lists the first row', async () => {
  const space = new AnswerSpace(10)
  expect(await space.list(query('a'.repeat(1_000), ''))).toHaveLength(1)
  expect(space.isTruncated).toBe(true)
})
