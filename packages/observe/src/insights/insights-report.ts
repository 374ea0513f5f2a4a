import { groupAttempts } from './attempts.ts'
import { type ComputeMinutes, computeMinutes, totalMinutes } from './compute-minutes.ts'
import { type Finding, toFindings } from './findings.ts'
import { countFlaky, type FlakyJob, flakyJobs, flakyNames } from './flaky-jobs.ts'
import type { SelectedRuns } from './history/run-history.ts'
import type { RunEntry } from './history/run-table.ts'
import {
  DAY,
  dayStart,
  type RunStatistics,
  startedIn,
  type TimeSpan,
  toBuckets,
  toStatistics,
} from './history/time-buckets.ts'
import { groupDurations } from './job-durations.ts'
import {
  type FailingJob,
  failingJobs,
  type RetriedJob,
  repeatedKinds,
  retriedJobs,
  type SlowJob,
  slowestJobs,
  slowestKinds,
} from './job-ranking.ts'
import { totalsByKind } from './kind-totals.ts'

export interface InsightsRange extends TimeSpan {
  /** How far the viewer's clock is ahead of UTC. */
  readonly offsetMinutes: number
  /** The highest number of entries in each list of jobs and of minutes; 50 if it is not given. */
  readonly maxEntries?: number
}

/** The number of entries in each list unless more are asked for. */
export const DEFAULT_ENTRIES = 50

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
  /** The minutes of all jobs, however many entries `minutes` has. */
  readonly total_minutes: number
  readonly findings: readonly Finding[]
}

/** Returns the time from which runs have to be known for a report: findings and comparisons need some before the range. */
export const knownSince = ({ since, until, offsetMinutes }: InsightsRange): number =>
  Math.min(since - (until - since), dayStart(until, offsetMinutes) - 8 * DAY)

/**
 * Returns the statistics of a range. A run belongs to the range in which it started. Statistics of runs leave out child pipelines;
 * those of jobs include them.
 */
export function createInsights({ runs, table }: SelectedRuns, range: InsightsRange): InsightsReport {
  const { since, until, offsetMinutes, maxEntries = DEFAULT_ENTRIES } = range
  const inRange = startedIn(runs, range)
  const before = { since: since - (until - since), until: since }
  const earlier = startedIn(runs, before)
  const roots = runs.filter(({ isChild }) => !isChild)
  const rootsInRange = startedIn(roots, range)
  const buckets = toBuckets(range, offsetMinutes)
  const totals = totalsByKind(table, inRange)
  const slowest = slowestKinds(table, totals, maxEntries)
  const repeated = repeatedKinds(totals)
  const flaky = flakyNames(table, inRange, totals)
  const attempts = groupAttempts(table, inRange, {
    names: new Set([...repeated.map((kind) => table.nameOfKind[kind]!), ...flaky]),
    attempts: totals.attempts,
  })
  const kinds = slowest.map(({ kind }) => kind)
  const durations = groupDurations(table, inRange, { kinds, buckets, attempts: totals.attempts })
  const earlierDurations = groupDurations(table, earlier, { kinds, buckets: [before] })
  const allFlaky = countFlaky(table, flaky, attempts)
  return {
    buckets: perBucket(rootsInRange, buckets).map((found, index) => ({
      start_ns: nanosecondsOf(buckets[index]!.since),
      end_ns: nanosecondsOf(buckets[index]!.until),
      ...toStatistics(found),
    })),
    totals: toStatistics(rootsInRange),
    previous: toStatistics(startedIn(roots, before)),
    slowest_jobs: slowestJobs(table, {
      slowest,
      totals,
      durations,
      earlier: earlierDurations,
      buckets: buckets.length,
    }),
    flaky_jobs: flakyJobs(table, allFlaky.slice(0, maxEntries)),
    failing_jobs: failingJobs(table, totals, maxEntries),
    retries: retriedJobs(table, repeated, { attempts, maxEntries }),
    minutes: computeMinutes(table, inRange, maxEntries),
    total_minutes: totalMinutes(table, inRange),
    findings: toFindings({ table, runs: roots, inRange, flaky: allFlaky }, range),
  }
}

/** Returns the runs that started in each bucket. */
const perBucket = (runs: readonly RunEntry[], buckets: readonly TimeSpan[]): (readonly RunEntry[])[] =>
  buckets.map((bucket) => startedIn(runs, bucket))

const nanosecondsOf = (seconds: number): string => String(BigInt(Math.round(seconds)) * 1_000_000_000n)
