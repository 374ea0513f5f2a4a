import { expect, test } from 'vitest'
import { addTotals, noTotals } from './signal-totals.ts'

const totals = {
  chunks: 1,
  items: 6,
  deliveredItems: 3,
  rejectedItems: 1,
  failedItems: 2,
  skippedItems: 1,
  attempts: 4,
  wireBytes: 100,
  messages: new Map([['too old', 2]]),
}

test('adds every figure, and counts messages', () => {
  expect(addTotals(totals, totals)).toEqual({
    chunks: 2,
    items: 12,
    deliveredItems: 6,
    rejectedItems: 2,
    failedItems: 4,
    skippedItems: 2,
    attempts: 8,
    wireBytes: 200,
    messages: new Map([['too old', 4]]),
  })
  expect(addTotals(noTotals(), totals)).toEqual(totals)
})

test('limits the number of messages', () => {
  let sum = noTotals()
  for (let at = 0; at < 1_000; at++) sum = addTotals(sum, { ...totals, messages: new Map([[`reason ${at}`, 1]]) })
  expect(sum.messages.size).toBe(10)
  expect(addTotals(sum, { ...totals, messages: new Map([['reason 0', 5]]) }).messages.get('reason 0')).toBe(6)
})
