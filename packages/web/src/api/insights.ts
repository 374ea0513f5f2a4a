import { getJson, type Query } from './client.ts'

/** Statistics of the runs of a range, or of a part of it. Durations are seconds; null if there were none. */
export interface RunStatistics {
  readonly runs: number
  readonly success: number
  readonly failed: number
  readonly canceled: number
  readonly duration_p50: number | null
  readonly duration_p95: number | null
  readonly queue_p50: number | null
  readonly queue_p95: number | null
  readonly failure_rate: number | null
}

/** The statistics of a part of the range. */
export interface Bucket extends RunStatistics {
  readonly start_ns: string
  readonly end_ns: string
}

interface JobName {
  readonly name: string
  readonly stage: string | null
  readonly project: string | null
}

export interface SlowJob extends JobName {
  readonly runs: number
  readonly critical_seconds: number
  readonly p50: number | null
  readonly p95: number | null
  readonly trend: readonly (number | null)[]
  readonly change_seconds: number | null
}

export interface FlakyJob {
  readonly name: string
  readonly project: string | null
  readonly shas: number
  readonly shas_total: number
  readonly rate: number
  readonly success: number
  readonly failed: number
  readonly failure_rate: number | null
  readonly last_trace_id: string
  readonly last_results: readonly string[]
}

export interface FailingJob extends JobName {
  readonly success: number
  readonly failed: number
  readonly rate: number | null
  readonly last_trace_id: string
}

export interface RetriedJob extends JobName {
  readonly runs: number
  readonly retries: number
  readonly lost_seconds: number
}

export type MinutesBy = 'project' | 'runner' | 'tag'

export interface ComputeMinutes {
  readonly by: MinutesBy
  readonly name: string
  readonly minutes: number
  readonly jobs: number
}

/** A piece of a finding's sentence. Numbers come without format. */
export type FindingPart =
  | { readonly text: string }
  | { readonly name: string; readonly link?: string }
  | { readonly seconds: number }
  | { readonly ratio: number }
  | { readonly count: number }
  | { readonly day_ns: string }

/** A statement that a rule of the service found true. docs/guides/observe.md lists the rules. */
export interface Finding {
  readonly rule: string
  readonly parts: readonly FindingPart[]
  /** A path of the console with the evidence. */
  readonly link: string
}

export interface Insights {
  readonly buckets: readonly Bucket[]
  readonly totals: RunStatistics
  readonly previous: RunStatistics
  readonly slowest_jobs: readonly SlowJob[]
  readonly flaky_jobs: readonly FlakyJob[]
  readonly failing_jobs: readonly FailingJob[]
  readonly retries: readonly RetriedJob[]
  readonly minutes: readonly ComputeMinutes[]
  /** The minutes of all jobs, however many entries `minutes` has. */
  readonly total_minutes: number
  readonly findings: readonly Finding[]
  /** Whether older runs may be missing, because the service keeps a limited number of jobs in memory. */
  readonly truncated: boolean
}

/** Returns the statistics of the runs of a range. Days are those of the viewer's zone. */
export function getInsights(query: Query, signal?: AbortSignal): Promise<Insights> {
  const offset = -new Date().getTimezoneOffset()
  return getJson<Insights>('/api/v1/observe/insights', { ...query, timezone_offset_minutes: offset }, signal)
}
