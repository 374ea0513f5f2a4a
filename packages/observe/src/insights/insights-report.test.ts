import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { RunFacts } from '../runs/run-facts.ts'
import { medianAndP95, percentileIn } from './history/percentile.ts'
import { referenceReport, toPercentile } from './insights-reference.harness.ts'
import { createReport, DAY, HOUR, job, MONDAY, run, someRuns } from './run-facts.harness.ts'

const week = { since: MONDAY, until: MONDAY + 7 * DAY, offsetMinutes: 0 }

test.each([
  [[10, 20, 30, 40], 0.5, 25],
  [[10, 20, 30, 40], 0.95, 38.5],
  [[7], 0.95, 7],
  [[], 0.5, null],
])('the percentile of %j at %d is %d, as percentile_cont has it', (values, fraction, expected) => {
  for (const found of [toPercentile(values, fraction), percentileIn(new Float64Array(values), fraction)]) {
    if (expected === null) expect(found).toBeNull()
    else expect(found).toBeCloseTo(expected, 9)
  }
})

const fewValues = fc.array(fc.nat(20))
const thousands = { minLength: 1_001, maxLength: 1_500, size: 'max' } as const
const manyValues = fc.oneof(
  fc.array(fc.nat(20), thousands),
  fc.array(fc.oneof(fc.nat(20), fc.double({ min: 0, max: 1e12, noNaN: true })), thousands),
)

test('finds the percentiles of values in any order', () => {
  fc.assert(
    fc.property(fc.oneof(fewValues, manyValues), (values) => {
      const sorted = Float64Array.from(values).sort()
      expect(medianAndP95(Float64Array.from(values))).toEqual({
        p50: toPercentile(sorted, 0.5),
        p95: toPercentile(sorted, 0.95),
      })
    }),
  )
})

test('counts runs, and leaves skipped ones out of durations', () => {
  const runs = [
    run({ duration: 100 }),
    run({ duration: 200, status: 'failed', queue: null }),
    run({ duration: 300, status: 'canceled', queue: 8 }),
    run({ duration: 0, status: 'skipped', queue: null }),
    run({ duration: 50, isChild: true }),
    run({ duration: 40, start: MONDAY - 1 }),
  ]
  expect(createReport(runs, week).totals).toEqual({
    runs: 4,
    success: 1,
    failed: 1,
    canceled: 1,
    duration_p50: 200,
    duration_p95: 290,
    queue_p50: 5,
    queue_p95: expect.closeTo(7.7, 9),
    failure_rate: 0.5,
  })
  expect(createReport(runs, week).previous).toMatchObject({ runs: 1, duration_p50: 40, failure_rate: 0 })
})

test.each([
  { hours: 1, size: 300, count: 12 },
  { hours: 6, size: 900, count: 24 },
  { hours: 24, size: 3_600, count: 24 },
  { hours: 7 * 24, size: 6 * 3_600, count: 28 },
  { hours: 30 * 24, size: 24 * 3_600, count: 30 },
])('splits $hours h into $count buckets', ({ hours, size, count }) => {
  const { buckets } = createReport([], { since: MONDAY, until: MONDAY + hours * HOUR, offsetMinutes: 0 })
  expect(buckets).toHaveLength(count)
  expect(Number(BigInt(buckets[0]!.end_ns) - BigInt(buckets[0]!.start_ns)) / 1e9).toBe(size)
})

test("begins days at midnight of the viewer's clock", () => {
  const range = { since: MONDAY, until: MONDAY + 30 * DAY, offsetMinutes: 330 }
  const { buckets } = createReport([run()], range)
  expect(Number(BigInt(buckets[0]!.start_ns) / 1_000_000_000n)).toBe(MONDAY - 5.5 * HOUR)
  expect(buckets[0]).toMatchObject({ runs: 1 })
})

test('ranks jobs by their time on the critical path, with their trend', () => {
  const at = (start: number, duration: number, critical: number) =>
    run({ start, jobs: [job('unit', { start, duration, critical }), job('docs', { start, duration: 900 })] })
  const runs = [at(MONDAY - DAY, 10, 10), at(MONDAY, 30, 30), at(MONDAY + HOUR, 50, 40)]
  const { slowest_jobs } = createReport(runs, { since: MONDAY, until: MONDAY + DAY, offsetMinutes: 0 })
  expect(slowest_jobs).toMatchObject([
    { name: 'unit', stage: 'test', project: 'shop/storefront', runs: 2, critical_seconds: 70, p50: 40, p95: 49 },
  ])
  expect(slowest_jobs[0]).toMatchObject({ change_seconds: 30 })
  expect(slowest_jobs[0]!.trend.slice(0, 3)).toEqual([30, 50, null])
})

test('counts attempts beyond the first of a run as retries', () => {
  const attempts = [
    job('unit', { status: 'failed', duration: 20 }),
    job('unit', { status: 'success', start: MONDAY + 30 }),
  ]
  const { retries, failing_jobs } = createReport([run({ jobs: attempts }), run({ jobs: [job('unit')] })], week)
  expect(retries).toEqual([
    { name: 'unit', stage: 'test', project: 'shop/storefront', runs: 1, retries: 1, lost_seconds: 20 },
  ])
  expect(failing_jobs).toMatchObject([{ name: 'unit', success: 2, failed: 1, rate: 1 / 3 }])
})

test('counts the minutes of a job under each of its tags, and none of bridges', () => {
  const jobs = [
    job('unit', { duration: 120, tags: ['linux', 'large'] }),
    job('unit', { duration: 60, runner: 'pool-02' }),
    job('trigger', { duration: 600, isBridge: true }),
  ]
  expect(createReport([run({ jobs })], week).minutes).toEqual([
    { by: 'project', name: 'shop/storefront', minutes: 3, jobs: 2 },
    { by: 'runner', name: 'pool-01', minutes: 2, jobs: 1 },
    { by: 'runner', name: 'pool-02', minutes: 1, jobs: 1 },
    { by: 'tag', name: 'linux', minutes: 3, jobs: 2 },
    { by: 'tag', name: 'large', minutes: 2, jobs: 1 },
  ])
})

test('equals the report that is computed with an object per job', () => {
  fc.assert(
    fc.property(someRuns, fc.constantFrom(1, 7, 14), (runs, days) => {
      const range = { since: MONDAY + (14 - days) * DAY, until: MONDAY + 14 * DAY, offsetMinutes: 90 }
      expect(createReport(runs, range)).toEqual(referenceReport(runs, range))
    }),
  )
})

/** Recomputes the flaky jobs from their definition. */
function naiveFlaky(runs: readonly RunFacts[]): string[] {
  const found = new Set<string>()
  const results = runs.flatMap(({ project, sha, jobs }) =>
    jobs.filter(({ isBridge }) => !isBridge).map(({ name, status }) => ({ project, sha, name, status })),
  )
  for (const { project, sha, name } of results) {
    const same = results.filter((other) => other.project === project && other.sha === sha && other.name === name)
    const isBoth = ['success', 'failed'].every((status) => same.some((other) => other.status === status))
    if (sha !== null && isBoth) found.add(JSON.stringify([project, name]))
  }
  return [...found].sort()
}

test('equals a recomputation from the definitions', () => {
  fc.assert(
    fc.property(someRuns, (runs) => {
      const range = { since: MONDAY, until: MONDAY + 14 * DAY, offsetMinutes: -300 }
      const report = createReport(runs, range)
      const inRange = runs.filter(({ start }) => start >= range.since && start < range.until)
      const roots = inRange.filter(({ isChild }) => !isChild)
      expect(report.totals.runs).toBe(roots.length)
      expect(report.buckets.reduce((sum, bucket) => sum + bucket.runs, 0)).toBe(roots.length)
      expect(report.buckets.reduce((sum, bucket) => sum + bucket.failed, 0)).toBe(report.totals.failed)
      expect(report.flaky_jobs.map(({ project, name }) => JSON.stringify([project, name])).sort()).toEqual(
        naiveFlaky(inRange),
      )
      const jobs = inRange.flatMap(({ jobs }) => jobs)
      const critical = jobs.reduce((sum, { critical }) => sum + critical, 0)
      expect(report.slowest_jobs.reduce((sum, { critical_seconds }) => sum + critical_seconds, 0)).toBeCloseTo(
        critical,
        6,
      )
      const projectMinutes = inRange
        .filter(({ project }) => project !== null)
        .flatMap(({ jobs }) => jobs.filter(({ isBridge }) => !isBridge))
        .reduce((sum, { duration }) => sum + duration / 60, 0)
      const reported = report.minutes
        .filter(({ by }) => by === 'project')
        .reduce((sum, { minutes }) => sum + minutes, 0)
      expect(reported).toBeCloseTo(projectMinutes, 6)
    }),
  )
})
