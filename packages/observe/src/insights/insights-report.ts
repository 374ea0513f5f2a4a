import { type ComputeMinutes, computeMinutes } from './compute-minutes.ts'
import { type Finding, findingsOf } from './findings.ts'
import { type FlakyJob, flakyJobs } from './flaky-jobs.ts'
import {
  durationsOf,
  type FailingJob,
  failingJobs,
  jobHistories,
  type RetriedJob,
  retriedJobs,
  type SlowJob,
  slowestJobs,
} from './job-ranking.ts'
import { percentileOf } from './percentile.ts'
import type { RunFacts } from './run-facts.ts'
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
  readonly slowest_jobs: readonly (SlowJob & {
    /** The median duration in each bucket; `null` in buckets in which the job did not run. */
    readonly trend: readonly (number | null)[]
    /** The median duration less that of the range before; `null` if the job did not run then. */
    readonly change_seconds: number | null
  })[]
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
export function insightsOf(runs: readonly RunFacts[], range: InsightsRange): InsightsReport {
  const { since, until, offsetMinutes } = range
  const inRange = runs.filter(({ start }) => isWithin(start, range))
  const earlier = runs.filter(({ start }) => isWithin(start, { since: since - (until - since), until: since }))
  const roots = rootsOf(inRange)
  const buckets = bucketsOf(range, offsetMinutes)
  const histories = jobHistories(inRange)
  return {
    buckets: perBucket(roots, buckets).map((found, index) => ({
      start_ns: nanosecondsOf(buckets[index]!.since),
      end_ns: nanosecondsOf(buckets[index]!.until),
      ...statisticsOf(found),
    })),
    totals: statisticsOf(roots),
    previous: statisticsOf(rootsOf(earlier)),
    slowest_jobs: withTrend(slowestJobs(histories), inRange, earlier, buckets),
    flaky_jobs: flakyJobs(inRange),
    failing_jobs: failingJobs(histories),
    retries: retriedJobs(histories),
    minutes: computeMinutes(inRange),
    findings: findingsOf(rootsOf(runs), inRange, range),
  }
}

const rootsOf = (runs: readonly RunFacts[]): RunFacts[] => runs.filter(({ isChild }) => !isChild)

/** Returns the runs that started in each bucket. */
function perBucket(runs: readonly RunFacts[], buckets: readonly TimeSpan[]): RunFacts[][] {
  const found: RunFacts[][] = buckets.map(() => [])
  const first = buckets[0]
  if (first === undefined) return found
  const size = first.until - first.since
  for (const run of runs) found[Math.floor((run.start - first.since) / size)]?.push(run)
  return found
}

function withTrend(
  jobs: readonly SlowJob[],
  inRange: readonly RunFacts[],
  earlier: readonly RunFacts[],
  buckets: readonly TimeSpan[],
): InsightsReport['slowest_jobs'] {
  const listed = new Set(jobs.map(keyOf))
  const medians = (runs: readonly RunFacts[]) => mediansByJob(runs, listed)
  const inBuckets = perBucket(inRange, buckets).map(medians)
  const before = medians(earlier)
  return jobs.map((job) => {
    const key = keyOf(job)
    const median = before.get(key) ?? null
    return {
      ...job,
      trend: inBuckets.map((medians) => medians.get(key) ?? null),
      change_seconds: job.p50 === null || median === null ? null : job.p50 - median,
    }
  })
}

const keyOf = ({ project, stage, name }: Pick<SlowJob, 'project' | 'stage' | 'name'>): string =>
  JSON.stringify([project, stage, name])

/** Returns the median duration of each of the listed jobs. */
function mediansByJob(runs: readonly RunFacts[], listed: ReadonlySet<string>): Map<string, number | null> {
  return new Map(
    jobHistories(runs).flatMap((history) => {
      const key = keyOf(history)
      return listed.has(key) ? [[key, percentileOf(durationsOf(history.attempts), 0.5)] as const] : []
    }),
  )
}

const nanosecondsOf = (seconds: number): string => String(BigInt(Math.round(seconds)) * 1_000_000_000n)
