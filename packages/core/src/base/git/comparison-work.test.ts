import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ComparisonWork } from './comparison-work.ts'
import { diffLines, keptLines } from './line-diff.ts'

test('every comparison takes work for its lines, and a search for the lines that it looks at', () => {
  const lines = (prefix: string, count: number) => Array.from({ length: count }, (_, line) => `${prefix}${line}\n`)
  const canCompare = (
    steps: number,
    before: string[],
    after: string[],
    compare: typeof diffLines | typeof keptLines,
  ) => {
    const work = new ComparisonWork(steps)
    compare(before, after, work)
    return !work.isDone
  }
  for (const compare of [diffLines, keptLines]) {
    expect(canCompare(30_000, lines('a', 1_000), lines('a', 1_000), compare)).toBe(true)
    expect(canCompare(10_000, lines('a', 1_000), lines('a', 1_000), compare)).toBe(false)
    // Texts without common lines are searched until the limit of edits.
    expect(canCompare(400_000, lines('a', 1_000), lines('b', 1_000), compare)).toBe(false)
  }
})

const texts = fc.array(fc.constantFrom('a\n', 'b\n', 'c\n', '\n', 'd'), { maxLength: 12 })

test('keptLines keeps as many lines as the diff, in their order and with their text', () => {
  fc.assert(
    fc.property(texts, texts, (before, after) => {
      const kept = keptLines(before, after)
      const pairs = [...kept].flatMap((old, fresh) => (old === -1 ? [] : [{ old, fresh }]))
      expect(pairs.map(({ fresh }) => after[fresh])).toEqual(pairs.map(({ old }) => before[old]))
      expect(pairs.every(({ old }, at) => at === 0 || pairs[at - 1]!.old < old)).toBe(true)
      expect(kept).toHaveLength(after.length)
      expect(pairs).toHaveLength(diffLines(before, after).filter(({ kind }) => kind === ' ').length)
    }),
  )
})
