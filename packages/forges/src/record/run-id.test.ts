import fc from 'fast-check'
import { expect, test } from 'vitest'
import { compareRunIds, parseRunId, type RunId, runIdText } from './run-id.ts'

const ids = fc.oneof(
  fc.bigInt({ min: 1n, max: 2n ** 63n - 1n }),
  fc.string({ unit: 'grapheme', minLength: 1 }),
  fc.constantFrom('7', '~7', 'a b#7', 'a\nb'),
)

test.each<[RunId, string]>([
  [7n, '7'],
  ['7', '~7'],
  ['group/job name#7', '~group%2Fjob%20name%237'],
  ['0b1c4a52-7b1c-4d58-9a40-4f1d0ad6a3f9', '~0b1c4a52-7b1c-4d58-9a40-4f1d0ad6a3f9'],
])('the id %s is written as %s', (id, text) => {
  expect(runIdText(id)).toBe(text)
})

test('a written id has no blanks and is read as the same id', () => {
  fc.assert(
    fc.property(ids, (id) => {
      expect(runIdText(id)).toMatch(/^\S+$/)
      expect(parseRunId(runIdText(id))).toBe(id)
    }),
  )
})

test('numbers are ordered by value and stand before texts', () => {
  expect(['b', 10n, 'a', 9n].sort(compareRunIds)).toEqual([9n, 10n, 'a', 'b'])
})
