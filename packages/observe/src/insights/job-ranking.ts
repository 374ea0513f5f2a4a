import { compareTexts, failureRate } from '../runs/run-facts.ts'
import type { GroupedAttempts } from './attempts.ts'
import { medianAndP95, percentileIn } from './history/percentile.ts'
import { BRIDGE, type JobKind, type RunTable } from './history/run-table.ts'
import type { JobDurations } from './job-durations.ts'
import type { KindTotals } from './kind-totals.ts'

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

export interface Ranked {
  readonly kind: number
  readonly size: number
}

/** Returns the kinds with the `maxEntries` largest sizes; equal ones in the order of their names. */
function largest(kinds: readonly JobKind[], sizes: ArrayLike<number>, maxEntries: number): Ranked[] {
  return Array.from(sizes, (size, kind) => ({ kind, size }))
    .filter(({ size }) => size > 0)
    .sort((a, b) => b.size - a.size || compareKinds(kinds[a.kind]!, kinds[b.kind]!))
    .slice(0, maxEntries)
}

const compareKinds = (a: JobKind, b: JobKind): number =>
  compareTexts(a.name, b.name) || compareTexts(a.project, b.project) || compareTexts(a.stage, b.stage)

const nameOf = ({ name, stage, project }: JobKind): JobKind => ({ name, stage, project })

/** Returns the kinds with the most time on the critical path. */
export const slowestKinds = ({ kinds }: RunTable, { critical }: KindTotals, maxEntries: number): readonly Ranked[] =>
  largest(kinds, critical, maxEntries)

/** The slowest kinds with their durations in a range and in the one before. */
export interface SlowestKinds {
  readonly slowest: readonly Ranked[]
  readonly totals: KindTotals
  readonly durations: JobDurations
  readonly earlier: JobDurations
  /** The number of parts of the range. */
  readonly buckets: number
}

/** Describes the jobs with the most time on the critical path. Percentiles are those of all attempts that ran. */
export function slowestJobs(table: RunTable, kinds: SlowestKinds): SlowJob[] {
  const { slowest, totals, durations, earlier, buckets } = kinds
  return slowest.map(({ kind, size }) => {
    // The buckets first: percentiles change the order of values, and all durations of a kind are those of its buckets.
    const trend = Array.from({ length: buckets }, (_, bucket) => percentileIn(durations.inBucket(kind, bucket), 0.5))
    const { p50, p95 } = medianAndP95(durations.ofKind(kind))
    const median = percentileIn(earlier.ofKind(kind), 0.5)
    return {
      ...nameOf(table.kinds[kind]!),
      runs: totals.runs[kind]!,
      critical_seconds: size,
      p50,
      p95,
      trend,
      change_seconds: p50 === null || median === null ? null : p50 - median,
    }
  })
}

/** Ranks jobs by failed attempts. */
export function failingJobs(
  table: RunTable,
  { success, failed, failures }: KindTotals,
  maxEntries: number,
): FailingJob[] {
  const { kind, start, run } = table.columns
  const last = new Map<number, number>()
  for (const at of failures) {
    const known = last.get(kind[at]!)
    if (known === undefined || start[at]! > start[known]!) last.set(kind[at]!, at)
  }
  return largest(table.kinds, failed, maxEntries).map(({ kind, size }) => ({
    ...nameOf(table.kinds[kind]!),
    success: success[kind]!,
    failed: size,
    rate: failureRate(success[kind]!, size),
    last_trace_id: table.runAt(run[last.get(kind)!]!).traceId,
  }))
}

/** Returns the kinds with several attempts in a run. */
export const repeatedKinds = ({ attempts, runs }: KindTotals): number[] =>
  Array.from(attempts.keys()).filter((kind) => attempts[kind]! > runs[kind]!)

/** Ranks jobs by attempts beyond the first of a run. Bridges are not retried. */
export function retriedJobs(
  table: RunTable,
  repeated: readonly number[],
  { attempts, maxEntries }: { readonly attempts: GroupedAttempts; readonly maxEntries: number },
): RetriedJob[] {
  const found = new Map(repeated.map((kind) => [kind, retriesOf(table, attempts.ofKind(kind))]))
  const sizes = new Float64Array(table.kinds.length)
  for (const [kind, { retries }] of found) sizes[kind] = retries
  return largest(table.kinds, sizes, maxEntries).map(({ kind }) => ({
    ...nameOf(table.kinds[kind]!),
    ...found.get(kind)!,
  }))
}

/** @param attempts those of one kind, in the order of their runs */
function retriesOf(table: RunTable, attempts: Uint32Array): Omit<RetriedJob, keyof JobKind> {
  const { outcome, run } = table.columns
  let [runs, retries, lost] = [0, 0, 0]
  for (let from = 0; from < attempts.length; ) {
    let to = from + 1
    while (to < attempts.length && run[attempts[to]!] === run[attempts[from]!]) to += 1
    if (to > from + 1) {
      const own = attempts.subarray(from, to).filter((at) => outcome[at] !== BRIDGE)
      if (own.length > 1) {
        runs += 1
        retries += own.length - 1
        lost = addLostSeconds(table, own, lost)
      }
    }
    from = to
  }
  return { runs, retries, lost_seconds: lost }
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
