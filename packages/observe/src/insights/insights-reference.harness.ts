// Computes insights with an object per job, as their definitions say. Tests compare the columns of the store with it.
import { getOrCreate } from '../runs/map-entry.ts'
import { compareTexts, failureRate, type JobFacts, type RunFacts } from '../runs/run-facts.ts'
import { toFindings } from './findings.ts'
import { isWithin, toBuckets, toStatistics } from './history/time-buckets.ts'
import type { InsightsRange, InsightsReport } from './insights-report.ts'
import { selectedRuns } from './run-facts.harness.ts'

/** Returns the interpolated percentile, as PostgreSQL's `percentile_cont` does; `null` if there are no values. */
export function toPercentile(sorted: ArrayLike<number>, fraction: number): number | null {
  if (sorted.length === 0) return null
  const rank = fraction * (sorted.length - 1)
  const below = Math.floor(rank)
  const low = sorted[below]!
  return low + (rank - below) * (sorted[Math.ceil(rank)]! - low)
}

interface Attempt {
  readonly run: RunFacts
  readonly job: JobFacts
}

interface JobHistory {
  readonly name: string
  readonly stage: string | null
  readonly project: string | null
  readonly attempts: readonly Attempt[]
}

/** Returns the report of runs. Its findings use the flaky jobs and the runs of this report. */
export function referenceReport(all: readonly RunFacts[], range: InsightsRange): InsightsReport {
  const runs = all.toSorted((a, b) => a.start - b.start || (a.traceId < b.traceId ? -1 : 1))
  const { since, until, offsetMinutes } = range
  const inRange = runs.filter(({ start }) => isWithin(start, range))
  const earlier = runs.filter(({ start }) => isWithin(start, { since: since - (until - since), until: since }))
  const roots = (of: readonly RunFacts[]) => of.filter(({ isChild }) => !isChild)
  const buckets = toBuckets(range, offsetMinutes)
  const histories = historiesOf(inRange, ({ stage }) => stage)
  const flaky = flakyJobs(inRange)
  const selected = selectedRuns(runs)
  return {
    buckets: buckets.map((bucket) => ({
      start_ns: `${bucket.since}000000000`,
      end_ns: `${bucket.until}000000000`,
      ...toStatistics(roots(inRange).filter(({ start }) => isWithin(start, bucket))),
    })),
    totals: toStatistics(roots(inRange)),
    previous: toStatistics(roots(earlier)),
    slowest_jobs: ranked(
      histories.map((history) => slowJob(history, earlier, buckets)),
      ({ critical_seconds }) => critical_seconds,
    ),
    flaky_jobs: flaky,
    failing_jobs: ranked(histories.map(failingJob), ({ failed }) => failed),
    retries: ranked(histories.map(retriedJob), ({ retries }) => retries),
    minutes: [
      ...minutes('project', inRange, ({ run }) => [run.project]),
      ...minutes('runner', inRange, ({ job }) => [job.runner]),
      ...minutes('tag', inRange, ({ job }) => job.tags),
    ],
    total_minutes:
      sum(
        attemptsOf(inRange)
          .filter(({ job }) => !job.isBridge)
          .map(({ job }) => Math.round(job.duration * 1e6)),
      ) / 60e6,
    findings: toFindings(
      {
        table: selected.table,
        runs: selected.runs.filter(({ isChild }) => !isChild),
        inRange: selected.runs.filter(({ start }) => isWithin(start, range)),
        flaky,
      },
      range,
    ),
  }
}

const attemptsOf = (runs: readonly RunFacts[]): Attempt[] =>
  runs.flatMap((run) => run.jobs.map((job) => ({ run, job })))

/** Groups attempts by project, stage and name. */
function historiesOf(runs: readonly RunFacts[], stageOf: (job: JobFacts) => string | null): JobHistory[] {
  const histories = new Map<string, JobHistory & { attempts: Attempt[] }>()
  for (const attempt of attemptsOf(runs)) {
    const { project } = attempt.run
    const { name } = attempt.job
    const stage = stageOf(attempt.job)
    const key = JSON.stringify([project, stage, name])
    getOrCreate(histories, key, () => ({ name, stage, project, attempts: [] })).attempts.push(attempt)
  }
  return [...histories.values()]
}

const compareNames = (a: Omit<JobHistory, 'attempts'>, b: Omit<JobHistory, 'attempts'>): number =>
  compareTexts(a.name, b.name) || compareTexts(a.project, b.project) || compareTexts(a.stage, b.stage)

const ranked = <Entry extends Omit<JobHistory, 'attempts'>>(
  entries: readonly Entry[],
  sizeOf: (entry: Entry) => number,
): Entry[] =>
  entries
    .filter((entry) => sizeOf(entry) > 0)
    .sort((a, b) => sizeOf(b) - sizeOf(a) || compareNames(a, b))
    .slice(0, 50)

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0)
const durations = (attempts: readonly Attempt[]): Float64Array =>
  Float64Array.from(attempts.map(({ job }) => job.duration).filter((seconds) => seconds > 0)).sort()

function slowJob(
  { attempts, ...names }: JobHistory,
  earlier: readonly RunFacts[],
  buckets: readonly { since: number; until: number }[],
): InsightsReport['slowest_jobs'][number] {
  const p50 = toPercentile(durations(attempts), 0.5)
  const before = historiesOf(earlier, ({ stage }) => stage).find((other) => compareNames(other, names) === 0)
  const median = toPercentile(durations(before?.attempts ?? []), 0.5)
  return {
    ...names,
    runs: new Set(attempts.map(({ run }) => run)).size,
    critical_seconds: sum(attempts.map(({ job }) => job.critical)),
    p50,
    p95: toPercentile(durations(attempts), 0.95),
    trend: buckets.map((bucket) =>
      toPercentile(durations(attempts.filter(({ run }) => isWithin(run.start, bucket))), 0.5),
    ),
    change_seconds: p50 === null || median === null ? null : p50 - median,
  }
}

const withResult = (attempts: readonly Attempt[], status: string): Attempt[] =>
  attempts.filter(({ job }) => !job.isBridge && job.status === status)

function failingJob({ attempts, ...names }: JobHistory): InsightsReport['failing_jobs'][number] {
  const success = withResult(attempts, 'success').length
  const failures = withResult(attempts, 'failed')
  const last = failures.toSorted((a, b) => b.job.start - a.job.start)[0]
  return {
    ...names,
    success,
    failed: failures.length,
    rate: failureRate(success, failures.length),
    last_trace_id: last?.run.traceId ?? '',
  }
}

function retriedJob({ attempts, ...names }: JobHistory): InsightsReport['retries'][number] {
  const byRun = new Map<RunFacts, JobFacts[]>()
  for (const { run, job } of attempts) if (!job.isBridge) getOrCreate(byRun, run, () => []).push(job)
  const retried = [...byRun.values()].filter(({ length }) => length > 1)
  const lost = retried.flatMap((jobs) => {
    const last = jobs.reduce((latest, job) => (job.start >= latest.start ? job : latest))
    return jobs.filter((job) => job !== last).map(({ duration }) => duration)
  })
  return {
    ...names,
    runs: retried.length,
    retries: sum(retried.map(({ length }) => length - 1)),
    lost_seconds: sum(lost),
  }
}

function flakyJobs(runs: readonly RunFacts[]): InsightsReport['flaky_jobs'] {
  return historiesOf(runs, () => null)
    .flatMap(({ name, project, attempts }) => {
      const results = attempts.filter(({ job }) => !job.isBridge && ['success', 'failed'].includes(job.status!))
      const shas = [...new Set(results.flatMap(({ run }) => run.sha ?? []))]
      const on = (sha: string | null, status: string) =>
        sha !== null && results.some(({ run, job }) => run.sha === sha && job.status === status)
      const isFlaky = (sha: string | null) => on(sha, 'success') && on(sha, 'failed')
      const flaky = shas.filter(isFlaky)
      if (flaky.length === 0) return []
      const inOrder = results.toSorted((a, b) => a.job.start - b.job.start)
      const failed = results.filter(({ job }) => job.status === 'failed').length
      return {
        name,
        project,
        shas: flaky.length,
        shas_total: shas.length,
        rate: flaky.length / shas.length,
        success: results.length - failed,
        failed,
        failure_rate: failureRate(results.length - failed, failed),
        last_trace_id: inOrder.findLast(({ run, job }) => job.status === 'failed' && isFlaky(run.sha))!.run.traceId,
        last_results: inOrder.slice(-24).map(({ job }) => job.status!),
      }
    })
    .sort(
      (a, b) =>
        b.shas - a.shas || b.rate - a.rate || compareTexts(a.name, b.name) || compareTexts(a.project, b.project),
    )
    .slice(0, 50)
}

function minutes(
  by: InsightsReport['minutes'][number]['by'],
  runs: readonly RunFacts[],
  namesOf: (attempt: Attempt) => readonly (string | null)[],
): InsightsReport['minutes'][number][] {
  const ran = attemptsOf(runs).filter(({ job }) => !job.isBridge && job.duration > 0)
  const byName = new Map<string, number[]>()
  for (const attempt of ran) {
    for (const name of namesOf(attempt)) {
      if (name !== null) getOrCreate(byName, name, () => []).push(attempt.job.duration)
    }
  }
  return (
    [...byName]
      // Sums of whole microseconds are exact in any order.
      .map(([name, seconds]) => ({
        ...{ by, name, jobs: seconds.length },
        minutes: sum(seconds.map((each) => Math.round(each * 1e6))) / 60e6,
      }))
      .sort((a, b) => b.minutes - a.minutes || compareTexts(a.name, b.name))
      .slice(0, 50)
  )
}
