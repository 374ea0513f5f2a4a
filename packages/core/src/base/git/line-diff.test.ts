import fc from 'fast-check'
import { expect, test } from 'vitest'
import { countEditedLines } from './edited-lines.ts'
import { diffLines, linesOf, unifiedDiff } from './line-diff.ts'

const texts = fc
  .array(fc.constantFrom('a\n', 'b\n', 'c\n', '\n', 'd'), { maxLength: 12 })
  .map((lines) => lines.join(''))

test('the diff without additions is the old text, and without removals the new text', () => {
  fc.assert(
    fc.property(texts, texts, (before, after) => {
      const lines = diffLines(linesOf(before), linesOf(after))
      const without = (kind: string) =>
        lines
          .filter((line) => line.kind !== kind)
          .map(({ text }) => text)
          .join('')
      expect([without('+'), without('-')]).toEqual([before, after])
    }),
  )
})

test('countEditedLines returns the numbers of additions and removals of the diff', () => {
  fc.assert(
    fc.property(texts, texts, (before, after) => {
      const shown = diffLines(linesOf(before), linesOf(after))
      const count = (kind: string) => shown.filter((line) => line.kind === kind).length
      expect(countEditedLines(Buffer.from(before), Buffer.from(after))).toEqual({
        additions: count('+'),
        deletions: count('-'),
      })
    }),
  )
})

test('texts that are too different to search have all changed lines removed and added', () => {
  const many = (prefix: string) => Array.from({ length: 2_000 }, (_, line) => `${prefix}${line}\n`)
  const lines = diffLines(['same\n', ...many('a')], ['same\n', ...many('b')])
  expect(lines.map(({ kind }) => kind).join('')).toBe(` ${'-'.repeat(2_000)}${'+'.repeat(2_000)}`)
  const bytes = (prefix: string) => Buffer.from(['same\n', ...many(prefix)].join(''))
  expect(countEditedLines(bytes('a'), bytes('b'))).toEqual({ additions: 2_000, deletions: 2_000 })
})

test('in a long file only the changed lines are counted', () => {
  const long = (changed: string) =>
    Buffer.from(Array.from({ length: 90_000 }, (_, line) => (line === 50_000 ? changed : '-\n')).join(''))
  expect(countEditedLines(long('a\n'), long('b\nc\n'))).toEqual({ additions: 2, deletions: 1 })
  expect(countEditedLines(long('-\n'), Buffer.from('-'))).toEqual({ additions: 1, deletions: 90_000 })
})

test.each([
  { before: '', after: 'a\n', expected: '@@ -0,0 +1 @@\n+a\n' },
  { before: 'a\nb\n', after: '', expected: '@@ -1,2 +0,0 @@\n-a\n-b\n' },
  { before: 'a\n', after: 'a', expected: '@@ -1 +1 @@\n-a\n+a\n\\ No newline at end of file\n' },
  {
    before: '1\n2\n3\n4\n5\n6\n7\n8\n9\n',
    after: '1\n2\n3\n4\nx\n5\n6\n7\n8\n9\n',
    expected: '@@ -2,6 +2,7 @@\n 2\n 3\n 4\n+x\n 5\n 6\n 7\n',
  },
])('shows the unified diff from $before to $after', ({ before, after, expected }) => {
  expect(unifiedDiff(diffLines(linesOf(before), linesOf(after)))).toBe(expected)
})
