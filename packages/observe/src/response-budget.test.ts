import { expect, test } from 'vitest'
import { ResponseBudget } from './response-budget.ts'

const query = (...texts: readonly string[]) => ({
  async *stream() {
    for (const text of texts) yield { text }
  },
})

test('lists the rows that fit, and ends at the first that does not', async () => {
  const budget = new ResponseBudget(250)
  expect(await budget.list(query('a'.repeat(50), 'b'.repeat(50)))).toHaveLength(2)
  expect(budget.isTruncated).toBe(false)
  expect(await budget.list(query('c'.repeat(50), ''))).toEqual([])
  expect(budget.isTruncated).toBe(true)
})

test('always lists the first row', async () => {
  const budget = new ResponseBudget(10)
  expect(await budget.list(query('a'.repeat(1_000), ''))).toHaveLength(1)
  expect(budget.isTruncated).toBe(true)
})
