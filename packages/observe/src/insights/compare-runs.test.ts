import { expect, test } from 'vitest'
import { compareJobs, toMedianSides, toRunSides } from './compare-runs.ts'
import { job, MONDAY } from './run-facts.harness.ts'

const summary = (differences: ReturnType<typeof compareJobs>) =>
  differences.map(({ name, change, delta_seconds }) => `${name} ${change} ${delta_seconds}`)

test('compares two runs job by job, failures first', () => {
  const a = toRunSides({
    jobs: [job('build'), job('unit'), job('lint'), job('old'), job('deploy'), job('flake', { status: 'failed' })],
  })
  const b = toRunSides({
    jobs: [
      job('build', { duration: 30.5 }),
      job('unit', { duration: 45 }),
      job('lint', { duration: 10 }),
      job('new'),
      job('deploy', { status: 'failed', duration: 3 }),
      job('flake'),
    ],
  })
  expect(summary(compareJobs(a, b, 'a'))).toEqual([
    'deploy failed -27',
    'flake fixed 0',
    'new new null',
    'old gone null',
    'lint faster -20',
    'unit slower 15',
    'build same 0.5',
  ])
})

test('represents a job by its last attempt, and gives one that did not run no time', () => {
  const sides = toRunSides({
    jobs: [
      job('unit', { start: MONDAY + 60, duration: 20 }),
      job('unit', { status: 'failed', duration: 10 }),
      job('production', { status: 'manual', duration: 0 }),
    ],
  })
  expect([...sides.values()]).toEqual([
    { seconds: 20, status: 'success' },
    { seconds: null, status: 'manual' },
  ])
})

test('keeps stages apart', () => {
  const sides = toRunSides({ jobs: [job('unit'), job('unit', { stage: 'check' })] })
  expect(sides.size).toBe(2)
})

test('counts changes from the median of other runs, without jobs of few runs', () => {
  const median = toMedianSides([
    { jobs: [job('unit', { duration: 10 }), job('once')] },
    { jobs: [job('unit', { duration: 20 })] },
    { jobs: [job('unit', { duration: 60 })] },
  ])
  const a = toRunSides({ jobs: [job('unit', { duration: 30 }), job('once')] })
  expect(summary(compareJobs(a, median, 'b'))).toEqual(['once new null', 'unit slower 10'])
})
