import { percentileOf, sortedNumbers } from './percentile.ts'
import { entryOf, failureRate, hasResult, type JobFacts, type RunFacts } from './run-facts.ts'

/** The number of entries in each list of jobs. */
const MAX_ENTRIES = 50

interface JobName {
  readonly name: string
  readonly stage: string | null
  readonly project: string | null
}

export interface SlowJob extends JobName {
  readonly runs: number
  /** The time on the critical path of all runs together. */
  readonly critical_seconds: number
  readonly p50: number | null
  readonly p95: number | null
}

export interface FailingJob extends JobName {
  readonly success: number
  readonly failed: number
  /** Failed attempts ÷ attempts that passed or failed. */
  readonly rate: number | null
  readonly last_trace_id: string
}

export interface RetriedJob extends JobName {
  /** The number of runs in which it was retried. */
  readonly runs: number
  /** The attempts beyond the first of each run. */
  readonly retries: number
  /** The time of all attempts but the last of each run. */
  readonly lost_seconds: number
}

/** The attempts of one job in the runs under examination. */
export interface JobHistory extends JobName {
  readonly attempts: { readonly run: RunFacts; readonly job: JobFacts }[]
}

/** Groups the attempts of jobs by project, stage and name. */
export function jobHistories(runs: readonly RunFacts[]): JobHistory[] {
  const byProject = new Map<string | null, Map<string | null, Map<string, JobHistory>>>()
  for (const run of runs) {
    const byStage = entryOf(byProject, run.project, () => new Map<string | null, Map<string, JobHistory>>())
    for (const job of run.jobs) {
      const byName = entryOf(byStage, job.stage, () => new Map<string, JobHistory>())
      const make = (): JobHistory => ({ name: job.name, stage: job.stage, project: run.project, attempts: [] })
      entryOf(byName, job.name, make).attempts.push({ run, job })
    }
  }
  return [...byProject.values()].flatMap((stages) => [...stages.values()].flatMap((names) => [...names.values()]))
}

const nameOf = ({ name, stage, project }: JobName): JobName => ({ name, stage, project })

/** Returns the `MAX_ENTRIES` largest entries; equal ones in the order of their names. */
function ranked<Entry extends JobName>(entries: readonly Entry[], sizeOf: (entry: Entry) => number): Entry[] {
  return entries
    .filter((entry) => sizeOf(entry) > 0)
    .sort((a, b) => sizeOf(b) - sizeOf(a) || (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
    .slice(0, MAX_ENTRIES)
}

/** Ranks jobs by their time on the critical path. Percentiles are those of all attempts that ran. */
export function slowestJobs(histories: readonly JobHistory[]): SlowJob[] {
  const sums = histories.map((history) => ({ ...nameOf(history), history, critical: criticalSeconds(history) }))
  return ranked(sums, ({ critical }) => critical).map(({ history, critical }) => {
    const durations = durationsOf(history.attempts)
    return {
      ...nameOf(history),
      runs: new Set(history.attempts.map(({ run }) => run)).size,
      critical_seconds: critical,
      p50: percentileOf(durations, 0.5),
      p95: percentileOf(durations, 0.95),
    }
  })
}

const criticalSeconds = ({ attempts }: JobHistory): number => attempts.reduce((sum, { job }) => sum + job.critical, 0)

/** Returns the durations of the attempts that ran, in ascending order. */
export const durationsOf = (attempts: JobHistory['attempts']): Float64Array =>
  sortedNumbers(attempts.flatMap(({ job }) => (job.duration > 0 ? [job.duration] : [])))

/** Ranks jobs by failed attempts. */
export function failingJobs(histories: readonly JobHistory[]): FailingJob[] {
  const entries = histories.flatMap((history): FailingJob[] => {
    const results = history.attempts.filter(({ job }) => hasResult(job))
    const failures = results.filter(({ job }) => job.status === 'failed')
    if (failures.length === 0) return []
    const success = results.length - failures.length
    const last = failures.reduce((latest, attempt) => (attempt.job.start > latest.job.start ? attempt : latest))
    return [
      {
        ...nameOf(history),
        success,
        failed: failures.length,
        rate: failureRate(success, failures.length),
        last_trace_id: last.run.traceId,
      },
    ]
  })
  return ranked(entries, ({ failed }) => failed)
}

/** Ranks jobs by attempts beyond the first of a run. */
export function retriedJobs(histories: readonly JobHistory[]): RetriedJob[] {
  const entries = histories.map((history): RetriedJob => {
    let runs = 0
    let retries = 0
    let lost = 0
    for (const attempts of attemptsByRun(history).values()) {
      if (attempts.length === 1) continue
      runs += 1
      retries += attempts.length - 1
      const last = attempts.reduce((latest, job) => (job.start >= latest.start ? job : latest))
      for (const job of attempts) if (job !== last) lost += job.duration
    }
    return { ...nameOf(history), runs, retries, lost_seconds: lost }
  })
  return ranked(entries, ({ retries }) => retries)
}

function attemptsByRun({ attempts }: JobHistory): Map<RunFacts, JobFacts[]> {
  const byRun = new Map<RunFacts, JobFacts[]>()
  for (const { run, job } of attempts) {
    if (!job.isBridge) entryOf(byRun, run, () => []).push(job)
  }
  return byRun
}
