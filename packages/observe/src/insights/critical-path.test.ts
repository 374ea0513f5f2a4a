import fc from 'fast-check'
import { expect, test } from 'vitest'
import { criticalPath, type PathJob } from './critical-path.ts'

const job = (spanId: string, start: number, end: number): PathJob => ({ spanId, start, end })
const names = (jobs: readonly PathJob[], childJobs?: (bridge: PathJob) => readonly PathJob[] | undefined) =>
  criticalPath(jobs, childJobs).map(({ job: { spanId }, exclusive }) => `${spanId} ${exclusive}`)

test('walks back from the job that finished last', () => {
  const jobs = [job('build', 0, 10), job('lint', 0, 4), job('test', 12, 30), job('docs', 12, 20), job('deploy', 30, 35)]
  expect(names(jobs)).toEqual(['build 10', 'test 18', 'deploy 5'])
})

test('chooses the job that finished last before the current one started, not the one before it in a stage', () => {
  expect(names([job('a', 0, 5), job('b', 0, 9), job('c', 8, 20)])).toEqual(['a 5', 'c 12'])
})

test('contains earlier attempts of a job', () => {
  expect(names([job('try 1', 0, 5), job('try 2', 6, 9)])).toEqual(['try 1 5', 'try 2 3'])
})

test('goes on in the child pipeline of a bridge, which keeps the rest of its time', () => {
  const children: Record<string, PathJob[]> = {
    bridge: [job('child a', 11, 15), job('child b', 16, 20), job('inner', 20, 22)],
    inner: [job('grandchild', 20, 21)],
  }
  const jobs = [job('build', 0, 10), job('bridge', 10, 22), job('deploy', 22, 23)]
  expect(names(jobs, ({ spanId }) => children[spanId])).toEqual([
    'build 10',
    'bridge 2',
    'child a 4',
    'child b 4',
    'inner 1',
    'grandchild 1',
    'deploy 1',
  ])
})

test('cuts a child pipeline that outlives its bridge', () => {
  const jobs = [job('bridge', 0, 3), job('deploy', 3, 5)]
  const childJobs = ({ spanId }: PathJob) => (spanId === 'bridge' ? [job('child', 1, 60)] : undefined)
  expect(names(jobs, childJobs)).toEqual(['bridge 1', 'child 2', 'deploy 2'])
})

test('keeps the time of a bridge if its child ran nothing', () => {
  expect(names([job('bridge', 0, 3)], () => [])).toEqual(['bridge 3'])
})

test('ends for pipelines that contain themselves', () => {
  const jobs = [job('bridge', 0, 3)]
  expect(names(jobs, () => jobs).reduce((sum, step) => sum + Number(step.split(' ')[1]), 0)).toBe(3)
})

test('has no jobs without duration', () => {
  expect(names([job('skipped', 5, 5), job('build', 0, 5)])).toEqual(['build 5'])
  expect(names([])).toEqual([])
})

/** Follows the definition word for word: for each job, looks through all of them. */
function naivePath(jobs: readonly PathJob[]): PathJob[] {
  const path: PathJob[] = []
  let before = Infinity
  for (;;) {
    const candidates = jobs.filter(({ start, end }) => end > start && end <= before)
    const lastEnd = Math.max(...candidates.map(({ end }) => end))
    const lastStart = Math.max(...candidates.filter(({ end }) => end === lastEnd).map(({ start }) => start))
    const ids = candidates
      .filter(({ start, end }) => end === lastEnd && start === lastStart)
      .map(({ spanId }) => spanId)
    const found = candidates.find(({ spanId }) => spanId === ids.sort()[0])
    if (found === undefined) return path.reverse()
    path.push(found)
    before = found.start
  }
}

const someJobs = fc
  .array(fc.tuple(fc.nat(60), fc.nat(20)), { maxLength: 30 })
  .map((times) => times.map(([start, length], index) => job(String(index), start, start + length)))

test('equals the path by definition', () => {
  fc.assert(
    fc.property(someJobs, (jobs) => {
      expect(criticalPath(jobs).map(({ job }) => job)).toEqual(naivePath(jobs))
    }),
  )
})

test('never takes longer than the pipeline, and does not depend on the order of jobs', () => {
  fc.assert(
    fc.property(someJobs, (jobs) => {
      const path = criticalPath(jobs)
      const length = Math.max(0, ...jobs.map(({ end }) => end)) - Math.min(0, ...jobs.map(({ start }) => start))
      expect(path.reduce((sum, { exclusive }) => sum + exclusive, 0)).toBeLessThanOrEqual(length)
      expect(criticalPath([...jobs].reverse())).toEqual(path)
    }),
  )
})
