import { type JobRecord, MAX_INTEGER, MAX_SECONDS, type PipelineRecord } from '@penstock/forges/record'
import { hasNeverRun } from '../base/status-maps.ts'

export interface SpanTimes {
  readonly startNs: bigint
  readonly endNs: bigint
  /** True if a time was invented, or the end was moved because it was before the start. */
  readonly adjusted: boolean
}

export interface JobTimes extends SpanTimes {
  /** False for a job that is in the trace although it never ran. */
  readonly executed: boolean
}

const NS_PER_SECOND = 1e9

/**
 * Returns start and end of the pipeline's span: the first known value of each list below.
 *
 * `undefined` if neither the pipeline nor a job has a usable time, and the receipt time is unknown.
 */
export function pipelineTimes(record: PipelineRecord): SpanTimes | undefined {
  const { finishedAtNs, durationSeconds } = record
  const startNs =
    attemptStart(record) ??
    record.createdAtNs ??
    earliest(record.jobs, (job) => job.createdAtNs) ??
    record.startedAtNs ??
    minus(finishedAtNs, durationSeconds) ??
    earliestStart(record.jobs) ??
    finishedAtNs ??
    record.updatedAtNs
  if (startNs === undefined) {
    const { receivedAtNs } = record
    return receivedAtNs === undefined ? undefined : { startNs: receivedAtNs, endNs: receivedAtNs, adjusted: true }
  }
  const endNs =
    finishedAtNs ??
    lastJobEnd(record) ??
    plus(startNs, durationSeconds || undefined) ??
    (hasStarted(record) ? record.updatedAtNs : undefined) ??
    startNs
  return ordered(startNs, endNs)
}

/** Returns the start of an attempt of a run, for forges that count attempts: they all have the creation time of the run. */
const attemptStart = ({ attempt, startedAtNs }: PipelineRecord): bigint | undefined =>
  attempt === undefined ? undefined : startedAtNs

/** Returns the end of the last job. An attempt of a run ends at the latest when the run was last updated. */
function lastJobEnd({ attempt, jobs, updatedAtNs }: PipelineRecord): bigint | undefined {
  const endNs = latestFinish(jobs)
  if (endNs === undefined || attempt === undefined || updatedAtNs === undefined) return endNs
  return endNs < updatedAtNs ? endNs : updatedAtNs
}

/** Returns whether a record has a usable time. A record without one needs a receipt time. */
export const hasTime = (record: PipelineRecord): boolean => pipelineTimes(record) !== undefined

/** Returns start and end of a job's span. A job that never ran gets a span of zero length within the pipeline's span. */
export function jobTimes(job: JobRecord, pipeline: SpanTimes): JobTimes {
  const { finishedAtNs, durationSeconds } = job
  const startNs = startOf(job)
  if (startNs !== undefined) {
    const endNs = finishedAtNs ?? plus(startNs, durationSeconds) ?? pipeline.endNs
    const adjusted = endNs < startNs
    return { startNs, endNs: adjusted ? startNs : endNs, adjusted, executed: true }
  }
  const atNs = finishedAtNs ?? within(job.createdAtNs, pipeline)
  const executed = job.status === 'success' || job.status === 'running' || ranSeconds(job) !== undefined
  return atNs === undefined
    ? { startNs: pipeline.startNs, endNs: pipeline.startNs, adjusted: true, executed }
    : { startNs: atNs, endNs: atNs, adjusted: false, executed }
}

/**
 * Returns the seconds that a job ran, which are the samples of the duration histograms: its `duration`, else the time
 * between its start and end. `undefined` for jobs that never ran.
 */
export function ranSeconds(job: JobRecord): number | undefined {
  if (hasNeverRun(job.status)) return undefined
  if (job.durationSeconds !== undefined) return job.durationSeconds
  if (job.startedAtNs === undefined || job.finishedAtNs === undefined || job.finishedAtNs < job.startedAtNs)
    return undefined
  return Number(job.finishedAtNs - job.startedAtNs) / NS_PER_SECOND
}

/** Returns the seconds in which at least one job ran; `undefined` if no job has a start and an end. */
export function busySeconds(jobs: readonly JobRecord[]): number | undefined {
  const spans = jobs
    .flatMap((job) => {
      const startNs = startOf(job)
      const { finishedAtNs: endNs } = job
      return startNs === undefined || endNs === undefined || endNs < startNs ? [] : [{ startNs, endNs }]
    })
    .sort((a, b) => (a.startNs < b.startNs ? -1 : a.startNs > b.startNs ? 1 : 0))
  if (spans.length === 0) return undefined
  let busyNs = 0n
  let untilNs = 0n
  for (const { startNs, endNs } of spans) {
    if (endNs <= untilNs) continue
    busyNs += endNs - (startNs > untilNs ? startNs : untilNs)
    untilNs = endNs
  }
  return Number(busyNs) / NS_PER_SECOND
}

const ordered = (startNs: bigint, endNs: bigint): SpanTimes =>
  endNs < startNs ? { startNs, endNs: startNs, adjusted: true } : { startNs, endNs, adjusted: false }

function within(atNs: bigint | undefined, range: SpanTimes): bigint | undefined {
  if (atNs === undefined) return undefined
  if (atNs < range.startNs) return range.startNs
  return atNs > range.endNs ? range.endNs : atNs
}

/** Returns the sum; `undefined` if OTLP cannot represent it. */
function plus(atNs: bigint, seconds: number | undefined): bigint | undefined {
  if (seconds === undefined || Math.abs(seconds) > MAX_SECONDS) return undefined
  const sum = atNs + BigInt(Math.round(seconds * NS_PER_SECOND))
  return sum > 0n && sum <= MAX_INTEGER ? sum : undefined
}

function minus(atNs: bigint | undefined, seconds: number | undefined): bigint | undefined {
  return atNs === undefined || seconds === undefined ? undefined : plus(atNs, -seconds)
}

/** Returns the start of a job, known or computed from its end; `undefined` for a job that never ran, even if it has times. */
function startOf({ status, startedAtNs, finishedAtNs, durationSeconds }: JobRecord): bigint | undefined {
  return hasNeverRun(status) ? undefined : (startedAtNs ?? minus(finishedAtNs, durationSeconds))
}

/** Returns the earliest start of the jobs' spans. */
const earliestStart = (jobs: readonly JobRecord[]): bigint | undefined =>
  earliest(jobs, (job) => startOf(job) ?? job.finishedAtNs)

function earliest(jobs: readonly JobRecord[], timeOf: (job: JobRecord) => bigint | undefined): bigint | undefined {
  let found: bigint | undefined
  for (const job of jobs) {
    const atNs = timeOf(job)
    if (atNs !== undefined && (found === undefined || atNs < found)) found = atNs
  }
  return found
}

function latestFinish(jobs: readonly JobRecord[]): bigint | undefined {
  let found: bigint | undefined
  for (const { finishedAtNs } of jobs) {
    if (finishedAtNs !== undefined && (found === undefined || finishedAtNs > found)) found = finishedAtNs
  }
  return found
}

const hasStarted = (record: PipelineRecord): boolean =>
  record.startedAtNs !== undefined || record.jobs.some((job) => job.startedAtNs !== undefined)
