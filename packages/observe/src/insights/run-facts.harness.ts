import fc from 'fast-check'
import { packRun, unpackRun } from '../runs/packed-run.ts'
import type { JobFacts, RunFacts } from '../runs/run-facts.ts'
import type { SelectedRuns } from './history/run-history.ts'
import { RunTable } from './history/run-table.ts'
import { createInsights, type InsightsRange, type InsightsReport } from './insights-report.ts'

/** 2026-01-05T00:00:00Z, a Monday. */
export const MONDAY = 1_767_571_200
export const HOUR = 3_600
export const DAY = 24 * HOUR

let lastNumber = 0

/** Returns a run with valid defaults. */
export function run(facts: Partial<RunFacts> = {}): RunFacts {
  lastNumber += 1
  return {
    traceId: lastNumber.toString(16).padStart(32, '0'),
    service: 'svc-ci',
    project: 'shop/storefront',
    projectName: 'storefront',
    ref: 'main',
    refKind: 'default_branch',
    name: 'storefront',
    trigger: 'push',
    sha: `sha ${lastNumber}`,
    status: 'success',
    isChild: false,
    start: MONDAY,
    duration: 60,
    queue: 2,
    jobs: [],
    ...facts,
  }
}

/** Returns an attempt of a job with valid defaults. */
export const job = (name: string, facts: Partial<JobFacts> = {}): JobFacts => ({
  name,
  stage: 'test',
  status: 'success',
  start: MONDAY,
  duration: 30,
  critical: 0,
  isBridge: false,
  runner: 'pool-01',
  tags: ['linux'],
  ...facts,
})

/** Returns runs as the store reads them. */
export function selectedRuns(runs: readonly RunFacts[]): SelectedRuns {
  const table = new RunTable()
  for (const facts of runs) table.add(unpackRun(packRun(facts)))
  return { runs: table.inOrder(), table }
}

export const createReport = (runs: readonly RunFacts[], range: InsightsRange): InsightsReport =>
  createInsights(selectedRuns(runs), range)

const status = fc.constantFrom('success', 'failed', 'canceled', 'skipped')

const someJob = fc
  .record({
    name: fc.constantFrom('unit', 'build', 'lint'),
    stage: fc.constantFrom('test', 'check', null),
    status,
    start: fc.nat(20 * DAY).map((offset) => MONDAY + offset),
    // Tenths, so that the order of sums matters.
    duration: fc.nat(5_000).map((tenths) => tenths / 10),
    critical: fc.nat(1_000).map((tenths) => tenths / 10),
    isBridge: fc.boolean(),
    tags: fc.uniqueArray(fc.constantFrom('linux', 'large'), { maxLength: 2 }),
    runner: fc.constantFrom('pool-01', 'pool-02', null),
  })
  .map(({ name, ...facts }) => job(name, facts))

/** Runs of two weeks with few names, so that names and commits repeat. */
export const someRuns = fc.array(
  fc
    .record({
      status,
      sha: fc.constantFrom('a', 'b', 'c', null),
      project: fc.constantFrom('shop', 'hub', null),
      start: fc.nat(14 * DAY).map((offset) => MONDAY + offset),
      duration: fc.nat(40_000).map((tenths) => tenths / 10),
      queue: fc.option(fc.nat(100)),
      isChild: fc.boolean(),
      jobs: fc.array(someJob, { maxLength: 6 }),
    })
    .map(run),
  { maxLength: 30 },
)
