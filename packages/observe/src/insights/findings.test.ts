import { expect, test } from 'vitest'
import type { JobFacts, RunFacts } from '../runs/run-facts.ts'
import type { Finding } from './findings.ts'
import { createReport, DAY, HOUR, job, MONDAY, run } from './run-facts.harness.ts'

const until = MONDAY + 14 * DAY + 10 * HOUR
const range = { since: until - 14 * DAY, until, offsetMinutes: 0 }

/** Returns four runs a day. */
function history(factsOf: (day: number) => { jobs?: JobFacts[] } & Partial<RunFacts>): RunFacts[] {
  return Array.from({ length: 15 * 4 }, (_, index) => {
    const start = MONDAY + Math.floor(index / 4) * DAY + (index % 4) * HOUR
    return run({ start, ...factsOf(Math.floor(index / 4)) })
  })
}

const find = (runs: readonly RunFacts[], rule: Finding['rule']) =>
  createReport(runs, range).findings.find((finding) => finding.rule === rule)
const sentence = (finding: Finding | undefined) => finding?.parts.map((part) => String(Object.values(part)[0])).join('')

test('finds nothing in runs that are all alike', () => {
  expect(
    createReport(
      history(() => ({})),
      range,
    ).findings,
  ).toEqual([])
  expect(createReport([], range).findings).toEqual([])
})

test('names the job that made yesterday slower', () => {
  const runs = history((day) => ({
    duration: day === 13 ? 400 : 300,
    jobs: [job('browser', { critical: day === 13 ? 200 : 110 }), job('unit', { critical: day === 13 ? 55 : 50 })],
  }))
  const finding = find(runs, 'slower_yesterday')
  expect(sentence(finding)).toBe(
    'Job browser in shop/storefront: 90 more on the critical path, median pipeline 400, usually 300',
  )
  expect(finding!.link).toBe(
    `/pipelines?project=shop%2Fstorefront&since=${MONDAY + 13 * DAY}000000000&until=${MONDAY + 14 * DAY}000000000`,
  )
  expect(finding!.parts[1]).toEqual({
    name: 'browser',
    link: `/insights?project=shop%2Fstorefront&since=${MONDAY + 13 * DAY}000000000&until=${MONDAY + 14 * DAY}000000000&job=browser#slowest-jobs`,
  })
})

test('compares only runs of one kind: a nightly pipeline does not make yesterday slower', () => {
  const pushes = history(() => ({ duration: 300 }))
  const nightly = Array.from({ length: 4 }, (_, index) =>
    run({ start: MONDAY + 13 * DAY + (index + 5) * HOUR, duration: 4_000, trigger: 'schedule' }),
  )
  const others = Array.from({ length: 8 }, (_, index) =>
    run({ start: MONDAY + 13 * DAY + (index + 5) * HOUR, duration: 4_000, name: 'release' }),
  )
  expect(createReport([...pushes, ...nightly, ...others], range).findings).toEqual([])
})

test('usual is the median of the last 20 runs before yesterday', () => {
  // Days 0 to 7 took 900, days 8 to 12 took 300; four runs a day.
  const runs = history((day) => ({ duration: day === 13 ? 400 : day < 8 ? 900 : 300 }))
  expect(sentence(find(runs, 'slower_yesterday'))).toBe(
    'Pipelines in shop/storefront took longer: median pipeline 400, usually 300',
  )
})

test("uses the viewer's days", () => {
  const runs = history((day) => ({ duration: day === 13 ? 400 : 300 }))
  const findings = (offsetMinutes: number) => createReport(runs, { ...range, offsetMinutes }).findings
  expect(findings(0).map(({ rule }) => rule)).toContain('slower_yesterday')
  // 10:00 UTC is the beginning of the next day, for a clock that is 14 hours ahead.
  expect(findings(840).map(({ rule }) => rule)).not.toContain('slower_yesterday')
})

test('names the bad day and its runner', () => {
  const runs = history((day) =>
    day === 9 ? { status: 'failed', jobs: [job('unit', { status: 'failed', runner: 'pool-03' })] } : {},
  )
  expect(sentence(find(runs, 'bad_day'))).toBe(
    `${MONDAY + 9 * DAY}000000000: 1 of pipelines failed, otherwise 0. 4 of 4 failed jobs ran on pool-03`,
  )
})

test('names a slow drift and the job behind it', () => {
  const runs = history((day) => ({ duration: 200 + 5 * day, jobs: [job('browser', { critical: 100 + 4 * day })] }))
  expect(sentence(find(runs, 'slow_drift'))).toMatch(
    /^The median pipeline in shop\/storefront rose from \d+ to \d+\. Job browser accounts for \d+/,
  )
  expect(
    find(
      history(() => ({ duration: 200 })),
      'slow_drift',
    ),
  ).toBeUndefined()
})

test('says that queues are longer', () => {
  const week = { since: MONDAY + 7 * DAY, until: MONDAY + 14 * DAY, offsetMinutes: 0 }
  const runs = history((day) => ({ queue: day >= 7 ? 60 : 10 }))
  expect(createReport(runs, week).findings.map(({ rule }) => rule)).toContain('longer_queue')
})

test('names the job with the highest rate, not the one that ran most often', () => {
  const mixed = (name: string) => [job(name, { status: 'failed' }), job(name, { start: MONDAY + 99 })]
  const often = Array.from({ length: 20 }, (_, index) =>
    run({ start: until - HOUR, jobs: index < 4 ? mixed('unit') : [job('unit')] }),
  )
  const seldom = Array.from({ length: 3 }, () => run({ start: until - HOUR, jobs: mixed('payments') }))
  const once = run({ start: until - HOUR, jobs: mixed('deploy') })
  expect(sentence(find([...often, ...seldom, once], 'flaky_job'))).toBe(
    'Job payments in shop/storefront: passed and failed on the same commit 3 times in 3 commits',
  )
})

test('names the flakiest job', () => {
  const runs = ['a', 'b'].flatMap((sha) => [
    run({
      sha,
      start: until - HOUR,
      jobs: [job('payments', { status: 'failed' }), job('payments', { start: MONDAY + 99 })],
    }),
  ])
  expect(sentence(find(runs, 'flaky_job'))).toBe(
    'Job payments in shop/storefront: passed and failed on the same commit 2 times in 2 commits',
  )
  expect(find(runs, 'flaky_job')!.link).toMatch(
    /^\/insights\?project=shop%2Fstorefront&since=\d+&until=\d+&job=payments#flaky-jobs$/,
  )
})
