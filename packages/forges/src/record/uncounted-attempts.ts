import { sortJobs } from './arrange-jobs.ts'
import type { JobEvent } from './job-event.ts'
import type { JobRecord, PipelineRecord } from './pipeline-record.ts'
import { compareRunIds, type RunId } from './run-id.ts'
import { isFinished } from './status.ts'

/*
 * Gitea before version 1.27 counts how often each job was started, but not how often a run was. A job that an earlier attempt of the run
 * skipped has a lower number than the attempt that it belongs to. The attempt of a run and of a job is found by their times.
 */

/** The highest attempt of a run that is found. Further ones are read as this one. */
export const MAX_UNCOUNTED_ATTEMPTS = 20

/** An attempt of a run, as far as hooks about it have arrived. */
export interface KnownAttempt {
  /** The end of the run; absent until the hook about it has arrived. */
  readonly finishedAtNs: bigint | undefined
  readonly jobs: readonly KnownJob[]
  /** The jobs that have been exported, and are therefore no longer among `jobs`. */
  readonly exportedJobIds: Iterable<RunId>
}

/** A job of an attempt. */
export interface KnownJob extends Pick<JobEvent, 'jobId' | 'startedAtNs' | 'finishedAtNs'> {
  readonly status: string | undefined
}

/** The known attempts of a run by their number. */
export type KnownAttempts = ReadonlyMap<number, KnownAttempt>

/**
 * Returns the attempt of the run that a job belongs to. It is the number that the job has, or a later one if the job has ended in that
 * attempt before.
 */
export function attemptOfJob(event: JobEvent, known: KnownAttempts): number {
  let attempt = event.runAttempt ?? 1
  if (!isFinished(event.status)) return attempt
  while (attempt < MAX_UNCOUNTED_ATTEMPTS && isOfLaterAttempt(event, attempt, known)) attempt += 1
  return attempt
}

function isOfLaterAttempt(event: JobEvent, attempt: number, known: KnownAttempts): boolean {
  const { finishedAtNs, jobs = [], exportedJobIds = [] } = known.get(attempt) ?? {}
  if (finishedAtNs === undefined) return false
  const hasEnded =
    jobs.some(({ jobId, status }) => isSame(jobId, event.jobId) && isFinished(status ?? '')) ||
    [...exportedJobIds].some((id) => isSame(id, event.jobId))
  if (!hasEnded) return false
  const atNs = event.startedAtNs ?? event.finishedAtNs
  return atNs === undefined ? known.has(attempt + 1) : atNs > finishedAtNs
}

const isSame = (one: RunId, other: RunId): boolean => compareRunIds(one, other) === 0

/** Returns the attempt of a run that has ended: the latest one that shares its end or has jobs within its time. */
export function attemptOfRun(run: PipelineRecord, known: KnownAttempts): number {
  const latest = [...known.keys()].toSorted((a, b) => b - a)
  const found = latest.find((number) => isAttempt(run, known.get(number)!))
  if (found !== undefined) return found
  const { startedAtNs = 0n } = run
  const isAfter = ({ finishedAtNs }: KnownAttempt) => finishedAtNs !== undefined && startedAtNs > finishedAtNs
  const before = latest.find((number) => isAfter(known.get(number)!)) ?? 0
  return Math.min(before + 1, MAX_UNCOUNTED_ATTEMPTS)
}

function isAttempt({ startedAtNs, finishedAtNs }: PipelineRecord, known: KnownAttempt): boolean {
  if (known.finishedAtNs !== undefined) return known.finishedAtNs === finishedAtNs
  if (startedAtNs === undefined || finishedAtNs === undefined) return false
  return known.jobs.some((job) => {
    const fromNs = job.startedAtNs ?? job.finishedAtNs
    return fromNs !== undefined && fromNs <= finishedAtNs && (job.finishedAtNs ?? fromNs) >= startedAtNs
  })
}

/** Returns the record of a run as one of its attempts. The first one is that of a run without attempts. */
export function withUncountedAttempt(record: PipelineRecord, attempt: number): PipelineRecord {
  if (attempt === 1) return record
  return {
    ...record,
    attempt,
    previousAttempt: { runId: record.id, attempt: attempt - 1 },
    jobs: sortJobs(record.jobs.map(withoutQueue)),
  }
}

/** Returns a job of a later attempt without its time in the queue: it was created with the first attempt. */
export const withoutQueue = (job: JobRecord): JobRecord => ({
  ...job,
  createdAtNs: undefined,
  queuedSeconds: undefined,
})

/** Returns the record of a run that lists its jobs as the attempt that they tell, with the jobs that ran in it. */
export function withListedAttempt(record: PipelineRecord): PipelineRecord {
  const { startedAtNs = 0n, jobs } = record
  const own = jobs.filter((job) => (job.finishedAtNs ?? job.startedAtNs ?? startedAtNs) >= startedAtNs)
  const attempt = Math.max(1, ...own.map((job) => job.attempt ?? 1))
  return attempt === 1 ? record : withUncountedAttempt({ ...record, jobs: own }, attempt)
}
