import { attemptsByKind } from './attempts.ts'
import { type ComputeMinutes, computeMinutes } from './compute-minutes.ts'
import { type Finding, findingsOf } from './findings.ts'
import { type FlakyJob, flakyJobs } from './flaky-jobs.ts'
import { type FailingJob, failingJobs, type RetriedJob, retriedJobs, type SlowJob, slowestJobs } from './job-ranking.ts'
import type { SelectedRuns } from './run-history.ts'
import type { RunEntry } from './run-table.ts'
import {
  bucketsOf,
  DAY,
  isWithin,
  type RunStatistics,
  startOfDay,
  statisticsOf,
  type TimeSpan,
} from './time-buckets.ts'

export interface InsightsRange extends TimeSpan {
  /** How far the viewer's clock is ahead of UTC. */
  readonly offsetMinutes: number
}

export interface InsightsReport {
  readonly buckets: readonly (RunStatistics & { readonly start_ns: string; readonly end_ns: string })[]
  readonly totals: RunStatistics
  /** The statistics of the range of the same length before. */
  readonly previous: RunStatistics
  readonly slowest_jobs: readonly SlowJob[]
  readonly flaky_jobs: readonly FlakyJob[]
  readonly failing_jobs: readonly FailingJob[]
  readonly retries: readonly RetriedJob[]
  readonly minutes: readonly ComputeMinutes[]
  readonly findings: readonly Finding[]
}

/** Returns the time from which runs have to be known for a report: findings and comparisons need some before the range. */
export const knownSince = ({ since, until, offsetMinutes }: InsightsRange): number =>
  Math.min(since - (until - since), startOfDay(until, offsetMinutes) - 8 * DAY)

/**
 * Returns the statistics of a range. A run belongs to the range in which it started. Statistics of runs leave out child pipelines;
 * those of jobs include them.
 */
export function insightsOf({ runs, table }: SelectedRuns, range: InsightsRange): InsightsReport {
  const { since, until, offsetMinutes } = range
  const inRange = runs.filter(({ start }) => isWithin(start, range))
  const earlier = runs.filter(({ start }) => isWithin(start, { since: since - (until - since), until: since }))
  const roots = rootsOf(inRange)
  const buckets = bucketsOf(range, offsetMinutes)
  const attempts = attemptsByKind(table, inRange)
  const flaky = flakyJobs(table, inRange, attempts)
  return {
    buckets: perBucket(roots, buckets).map((found, index) => ({
      start_ns: nanosecondsOf(buckets[index]!.since),
      end_ns: nanosecondsOf(buckets[index]!.until),
      ...statisticsOf(found),
    })),
    totals: statisticsOf(roots),
    previous: statisticsOf(rootsOf(earlier)),
    slowest_jobs: slowestJobs(table, { attempts, earlier, buckets }),
    flaky_jobs: flaky,
    failing_jobs: failingJobs(table, attempts),
    retries: retriedJobs(table, attempts),
    minutes: computeMinutes(table, inRange),
    findings: findingsOf({ table, runs: rootsOf(runs), inRange, flaky }, range),
  }
}

const rootsOf = (runs: readonly RunEntry[]): RunEntry[] => runs.filter(({ isChild }) => !isChild)

/** Returns the runs that started in each bucket. */
function perBucket(runs: readonly RunEntry[], buckets: readonly TimeSpan[]): RunEntry[][] {
  const found: RunEntry[][] = buckets.map(() => [])
  const first = buckets[0]
  if (first === undefined) return found
  const size = first.until - first.since
  for (const run of runs) found[Math.floor((run.start - first.since) / size)]?.push(run)
  return found
}

const nanosecondsOf = (seconds: number): string => String(BigInt(Math.round(seconds)) * 1_000_000_000n)
