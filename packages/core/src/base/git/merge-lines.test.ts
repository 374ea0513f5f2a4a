import fc from 'fast-check'
import { expect, test } from 'vitest'
import { mergeLines } from './merge-lines.ts'

const merge = (base: string, ours: string, theirs: string) => mergeLines([...base], [...ours], [...theirs])?.join('')

test.each([
  ['both sides change different lines', 'abcde', 'Abcde', 'abcdE', 'AbcdE'],
  ['one side removes lines, the other adds some', 'abcdef', 'cdef', 'abcdefxy', 'cdefxy'],
  ['both make the same change', 'abc', 'aXc', 'aXc', 'aXc'],
  ['only one side changes anything', 'abc', 'abc', 'axyz', 'axyz'],
  ['there are no lines', '', '', 'a', 'a'],
])('combines edits: %s', (_, base, ours, theirs, merged) => {
  expect(merge(base, ours, theirs)).toBe(merged)
  expect(merge(base, theirs, ours)).toBe(merged)
})

test.each([
  ['the same line', 'abc', 'aXc', 'aYc'],
  ['adjacent lines', 'abcd', 'aXcd', 'abYd'],
  ['additions in the same place', 'ab', 'aXb', 'aYb'],
  ['a removed line', 'abc', 'ac', 'aYc'],
])('finds a conflict: %s', (_, base, ours, theirs) => {
  expect(merge(base, ours, theirs)).toBeUndefined()
})

test('combines any edits that have unchanged lines between them', () => {
  const letters = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 8 })
  fc.assert(
    fc.property(letters, letters, letters, letters, (start, end, newStart, newEnd) => {
      const lines = (first: string[], last: string[]) => [...first, '1', '2', ...last]
      const [base, ours, theirs] = [lines(start, end), lines(newStart, end), lines(start, newEnd)]
      expect(mergeLines(base, ours, theirs)).toEqual(lines(newStart, newEnd))
    }),
  )
})

test('is the same in both directions, and keeps a side if the other changed nothing', () => {
  const letters = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 12 })
  fc.assert(
    fc.property(letters, letters, letters, (base, ours, theirs) => {
      expect(mergeLines(base, ours, theirs)).toEqual(mergeLines(base, theirs, ours))
      expect(mergeLines(base, ours, base)).toEqual(ours)
    }),
  )
})
