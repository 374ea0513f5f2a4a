import fc from 'fast-check'
import { expect, test } from 'vitest'
import { criticalPath, type PathSpan } from './critical-path.ts'

interface TestSpan extends PathSpan<TestSpan> {}

const job = (spanId: string, start: number, end: number): TestSpan => ({
  spanId,
  isRun: false,
  start,
  end,
  children: [],
})
const end = (jobs: readonly TestSpan[]): number => Math.max(0, ...jobs.map((each) => each.end))
const run = (children: readonly TestSpan[]): TestSpan => ({
  spanId: 'run',
  isRun: true,
  start: 0,
  end: end(children),
  children,
})

/** Follows the definition word for word: for each job, looks through all of them. */
function naivePath(jobs: readonly TestSpan[]): string[] {
  const path: string[] = []
  let before = Infinity
  for (;;) {
    const candidates = jobs.filter(({ start, end }) => end > start && end <= before)
    const lastEnd = Math.max(...candidates.map(({ end }) => end))
    const longest = Math.min(...candidates.filter(({ end }) => end === lastEnd).map(({ start }) => start))
    const ids = candidates.filter(({ start, end }) => end === lastEnd && start === longest).map(({ spanId }) => spanId)
    const found = candidates.find(({ spanId }) => spanId === ids.sort()[0])
    if (found === undefined) return path.sort()
    path.push(found.spanId)
    before = found.start
  }
}

const someJobs = fc
  .array(fc.tuple(fc.nat(60), fc.nat(20)), { maxLength: 30 })
  .map((times) => times.map(([start, length], index) => job(String(index), start, start + length)))

const idsOf = (path: Map<TestSpan, number>) =>
  [...path].flatMap(([{ spanId }, exclusive]) => (exclusive > 0 ? [spanId] : [])).sort()

test('equals the path by definition', () => {
  fc.assert(
    fc.property(someJobs, (jobs) => {
      expect(idsOf(criticalPath(run(jobs)))).toEqual(naivePath(jobs))
    }),
  )
})

test('never takes longer than the pipeline, and does not depend on the order of jobs', () => {
  fc.assert(
    fc.property(someJobs, (jobs) => {
      const path = criticalPath(run(jobs))
      const exclusive = [...path.values()].reduce((sum, one) => sum + one, 0)
      expect(exclusive).toBeLessThanOrEqual(end(jobs))
      expect(idsOf(criticalPath(run(jobs.toReversed())))).toEqual(idsOf(path))
    }),
  )
})
