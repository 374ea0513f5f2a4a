import { type GroupedAttempts, groupAttempts, NO_GROUP } from './attempts.ts'
import { Sample } from './percentile.ts'
import { compareTexts, failureRate } from './run-facts.ts'
import { BRIDGE, FAILED, type JobKind, PASSED, type RunEntry, type RunTable } from './run-table.ts'
import type { TimeSpan } from './time-buckets.ts'

/** The number of entries in each list of jobs. */
const MAX_ENTRIES = 50

export interface SlowJob extends JobKind {
  readonly runs: number
  /** The time on the critical path of all runs together. */
  readonly critical_seconds: number
  readonly p50: number | null
  readonly p95: number | null
  /** The median duration in each bucket; `null` in buckets in which the job did not run. */
  readonly trend: readonly (number | null)[]
  /** The median duration less that of the range before; `null` if the job did not run then. */
  readonly change_seconds: number | null
}

export interface FailingJob extends JobKind {
  readonly success: number
  readonly failed: number
  /** Failed attempts ÷ attempts that passed or failed. */
  readonly rate: number | null
  readonly last_trace_id: string
}

export interface RetriedJob extends JobKind {
  /** The number of runs in which it was retried. */
  readonly runs: number
  /** The attempts beyond the first of each run. */
  readonly retries: number
  /** The time of all attempts but the last of each run. */
  readonly lost_seconds: number
}

interface Ranked {
  readonly kind: number
  readonly size: number
}

/** Returns the kinds with the `MAX_ENTRIES` largest sizes; equal ones in the order of their names. */
function largest(kinds: readonly JobKind[], sizes: Float64Array): Ranked[] {
  return Array.from(sizes, (size, kind) => ({ kind, size }))
    .filter(({ size }) => size > 0)
    .sort((a, b) => b.size - a.size || compareKinds(kinds[a.kind]!, kinds[b.kind]!))
    .slice(0, MAX_ENTRIES)
}

const compareKinds = (a: JobKind, b: JobKind): number =>
  compareTexts(a.name, b.name) || compareTexts(a.project, b.project) || compareTexts(a.stage, b.stage)

const nameOf = ({ name, stage, project }: JobKind): JobKind => ({ name, stage, project })

/** The runs of a range, those of the range before, and the parts of the range, all of the same length. */
export interface RankedRange {
  readonly attempts: GroupedAttempts
  readonly earlier: readonly RunEntry[]
  readonly buckets: readonly TimeSpan[]
}

/** Ranks jobs by their time on the critical path. Percentiles are those of all attempts that ran. */
export function slowestJobs(table: RunTable, { attempts, earlier, buckets }: RankedRange): SlowJob[] {
  const { critical, run } = table.columns
  const sums = new Float64Array(attempts.groups)
  let most = 0
  for (let kind = 0; kind < attempts.groups; kind += 1) {
    const of = attempts.of(kind)
    let sum = 0
    for (let index = 0; index < of.length; index += 1) sum += critical[of[index]!]!
    sums[kind] = sum
    most = Math.max(most, of.length)
  }
  const listed = largest(table.kinds, sums)
  const before = earlierMedians(table, earlier, listed)
  const sample = new Sample(most)
  return listed.map(({ kind, size }, index) => {
    const of = attempts.of(kind)
    let runs = 0
    for (let at = 0; at < of.length; at += 1) if (at === 0 || run[of[at]!] !== run[of[at - 1]!]) runs += 1
    collectDurations(table, of, sample)
    const p50 = sample.percentile(0.5)
    const p95 = sample.percentile(0.95)
    const median = before[index]!
    return {
      ...nameOf(table.kinds[kind]!),
      runs,
      critical_seconds: size,
      p50,
      p95,
      trend: trendOf(table, of, buckets, sample),
      change_seconds: p50 === null || median === null ? null : p50 - median,
    }
  })
}

/** Replaces the values of a sample by the durations of the attempts that ran. */
function collectDurations(table: RunTable, attempts: Uint32Array, sample: Sample): void {
  const { duration } = table.columns
  sample.clear()
  for (let at = 0; at < attempts.length; at += 1) {
    const seconds = duration[attempts[at]!]!
    if (seconds > 0) sample.add(seconds)
  }
}

/** Returns the median duration of the attempts in each bucket. Attempts are in the order of their runs. */
function trendOf(
  table: RunTable,
  attempts: Uint32Array,
  buckets: readonly TimeSpan[],
  sample: Sample,
): (number | null)[] {
  const { run } = table.columns
  let at = 0
  return buckets.map(({ until }) => {
    const from = at
    while (at < attempts.length && table.startOfRun[run[attempts[at]!]!]! < until) at += 1
    collectDurations(table, attempts.subarray(from, at), sample)
    return sample.percentile(0.5)
  })
}

/** Returns the median duration of each listed job in earlier runs. */
function earlierMedians(
  table: RunTable,
  runs: readonly RunEntry[],
  listed: readonly Ranked[],
): readonly (number | null)[] {
  const groupOfKind = new Int32Array(table.kinds.length).fill(NO_GROUP)
  for (const [index, { kind }] of listed.entries()) groupOfKind[kind] = index
  const attempts = groupAttempts(table, runs, { groupOfKind, groups: listed.length })
  return listed.map((_, index) => {
    const of = attempts.of(index)
    const sample = new Sample(of.length)
    collectDurations(table, of, sample)
    return sample.percentile(0.5)
  })
}

/** Ranks jobs by failed attempts. */
export function failingJobs(table: RunTable, attempts: GroupedAttempts): FailingJob[] {
  const { outcome, start, run } = table.columns
  const failures = new Float64Array(attempts.groups)
  const successes = new Float64Array(attempts.groups)
  const lastAttempts = new Uint32Array(attempts.groups)
  for (let kind = 0; kind < attempts.groups; kind += 1) {
    const of = attempts.of(kind)
    let failed = 0
    let success = 0
    let last = 0
    for (let index = 0; index < of.length; index += 1) {
      const at = of[index]!
      const result = outcome[at]!
      if (result === PASSED) success += 1
      else if (result === FAILED) {
        failed += 1
        if (failed === 1 || start[at]! > start[last]!) last = at
      }
    }
    failures[kind] = failed
    successes[kind] = success
    lastAttempts[kind] = last
  }
  return largest(table.kinds, failures).map(({ kind, size: failed }) => ({
    ...nameOf(table.kinds[kind]!),
    success: successes[kind]!,
    failed,
    rate: failureRate(successes[kind]!, failed),
    last_trace_id: table.runAt(run[lastAttempts[kind]!]!).traceId,
  }))
}

/** Ranks jobs by attempts beyond the first of a run. Bridges are not retried. */
export function retriedJobs(table: RunTable, attempts: GroupedAttempts): RetriedJob[] {
  const { outcome, run } = table.columns
  const retries = new Float64Array(attempts.groups)
  const found = new Map<number, Pick<RetriedJob, 'runs' | 'lost_seconds'>>()
  for (let kind = 0; kind < attempts.groups; kind += 1) {
    const of = attempts.of(kind)
    let runs = 0
    let lost = 0
    let count = 0
    for (let from = 0; from < of.length; ) {
      let to = from + 1
      while (to < of.length && run[of[to]!] === run[of[from]!]) to += 1
      if (to > from + 1) {
        const own = of.subarray(from, to).filter((at) => outcome[at] !== BRIDGE)
        if (own.length > 1) {
          runs += 1
          count += own.length - 1
          lost = addLostSeconds(table, own, lost)
        }
      }
      from = to
    }
    retries[kind] = count
    if (count > 0) found.set(kind, { runs, lost_seconds: lost })
  }
  return largest(table.kinds, retries).map(({ kind, size }) => {
    const { runs, lost_seconds } = found.get(kind)!
    return { ...nameOf(table.kinds[kind]!), runs, retries: size, lost_seconds }
  })
}

/** Adds the time of all attempts but the one that started last. */
function addLostSeconds(table: RunTable, attempts: Uint32Array, sum: number): number {
  const { start, duration } = table.columns
  let last = 0
  for (let index = 1; index < attempts.length; index += 1) {
    if (start[attempts[index]!]! >= start[attempts[last]!]!) last = index
  }
  return attempts.reduce((lost, at, index) => (index === last ? lost : lost + duration[at]!), sum)
}
