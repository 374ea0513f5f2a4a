import { type PlannedJob, POOL_SIZE } from './recipes.ts'
import type { Fate } from './runs.ts'

type JobStatus = 'success' | 'failed' | 'canceled' | 'skipped' | 'manual' | 'created'

/** An attempt of a job, or a job that did not run. */
export interface Attempt {
  readonly job: PlannedJob
  readonly status: JobStatus
  readonly failureReason?: string
  readonly createdMs: number
  /** The times of the attempt and its runner. */
  readonly ran?: {
    readonly readyMs: number
    readonly startedMs: number
    readonly finishedMs: number
    readonly slot: number
  }
  readonly isPlayed: boolean
}

export interface Schedule {
  readonly status: Exclude<JobStatus, 'created'>
  /** The attempts in the order of creation. A second attempt follows the first. */
  readonly attempts: readonly Attempt[]
  /** The end of the pipeline; `undefined` while it waits. */
  readonly finishedMs: number | undefined
}

interface ScheduleOptions {
  readonly jobs: readonly PlannedJob[]
  readonly fates: Readonly<Record<string, Fate>>
  readonly createdMs: number
  /** Returns a number in [0, 1) that is always the same for the same name. */
  readonly chance: (name: string) => number
  /** Runs the pipeline that a bridge starts. */
  readonly startBridge: (job: PlannedJob, atMs: number) => Schedule
}

const PICKUP_MS = 1_800

/** Simulates a pipeline stage by stage. Each job starts when a runner of the pool is free. This is a pure function. */
export function scheduleRun(options: ScheduleOptions): Schedule {
  const { jobs, createdMs } = options
  const attempts: Attempt[] = []
  let readyMs = createdMs + PICKUP_MS
  let status: Schedule['status'] = jobs.length === 0 ? 'skipped' : 'success'
  for (const stage of new Set(jobs.map((job) => job.stage))) {
    const due = jobs.filter((job) => job.stage === stage)
    const tried = endedByCancel(runStage(due, status, readyMs, options), options)
    attempts.push(...tried)
    readyMs = Math.max(readyMs, ...tried.map(({ ran }) => ran?.finishedMs ?? 0))
    if (status === 'success') status = statusAfter(tried)
  }
  return { status, attempts, finishedMs: status === 'manual' ? undefined : readyMs + 400 }
}

function runStage(
  jobs: readonly PlannedJob[],
  status: Schedule['status'],
  readyMs: number,
  options: ScheduleOptions,
): Attempt[] {
  const freeAtMs: number[] = Array(POOL_SIZE).fill(readyMs)
  return jobs.flatMap((job) => {
    const { createdMs, fates } = options
    const fate = fates[job.name]
    const isPlayed = fate?.kind === 'played'
    const place = (of: JobStatus): Attempt[] => [{ job, status: of, createdMs, isPlayed: false }]
    if (status === 'canceled') return place('canceled')
    if (status === 'manual') return place('created')
    if ((status === 'failed') !== (job.when === 'on_failure')) return place('skipped')
    if (job.manual !== undefined && !isPlayed) return place('manual')
    if (job.starts !== undefined) return [bridgeAttempt(job, readyMs, options)]
    const slot = freeAtMs.indexOf(Math.min(...freeAtMs))
    const dueMs = isPlayed ? readyMs + fate.afterMinutes * 60_000 : freeAtMs[slot]!
    const tries = attemptsAt(job, fate, { readyMs: isPlayed ? dueMs : readyMs, dueMs, slot }, options)
    freeAtMs[slot] = tries.at(-1)!.ran!.finishedMs
    return tries
  })
}

function attemptsAt(
  job: PlannedJob,
  fate: Fate | undefined,
  { readyMs, dueMs, slot }: { readyMs: number; dueMs: number; slot: number },
  { chance, createdMs }: ScheduleOptions,
): Attempt[] {
  const times = fate?.kind === 'slow' ? fate.times : 1
  const lastsMs = (job.seconds ?? 30) * 1_000 * times * (0.85 + 0.3 * chance(`${job.name} lasts`))
  const startedMs = Math.round(dueMs + PICKUP_MS * (0.5 + chance(`${job.name} waits`)))
  const isPlayed = fate?.kind === 'played'
  const attempt = (status: JobStatus, from: number, to: number, more: Partial<Attempt> = {}): Attempt => ({
    ...{ job, status, createdMs, isPlayed },
    ran: { readyMs, startedMs: from, finishedMs: Math.round(to), slot },
    ...more,
  })
  const endMs = startedMs + lastsMs
  if (fate?.kind === 'fails') return [attempt('failed', startedMs, endMs, { failureReason: fate.reason })]
  if (fate?.kind === 'canceled') return [attempt('canceled', startedMs, startedMs + lastsMs / 3)]
  if (fate?.kind !== 'retried') return [attempt('success', startedMs, endMs)]
  const first = attempt('failed', startedMs, startedMs + lastsMs / 2, { failureReason: fate.reason })
  const retriedMs = first.ran!.finishedMs
  const again = attempt('success', retriedMs + PICKUP_MS, retriedMs + PICKUP_MS + lastsMs)
  return [first, { ...again, createdMs: retriedMs, ran: { ...again.ran!, readyMs: retriedMs } }]
}

/** Returns the attempt of a bridge, which has the end and the status of the pipeline it started. */
function bridgeAttempt(job: PlannedJob, readyMs: number, { createdMs, startBridge }: ScheduleOptions): Attempt {
  const startedMs = readyMs + 300
  const { status, finishedMs = startedMs } = startBridge(job, startedMs + 200)
  const ran = { readyMs, startedMs, finishedMs: finishedMs + 250, slot: 0 }
  return { job, status: status === 'success' ? status : 'failed', createdMs, ran, isPlayed: false }
}

/** Cancels all attempts that are running when the pipeline is canceled. */
function endedByCancel(attempts: readonly Attempt[], { fates }: ScheduleOptions): Attempt[] {
  const canceled = attempts.find(({ job, status }) => status === 'canceled' && fates[job.name]?.kind === 'canceled')
  if (canceled?.ran === undefined) return [...attempts]
  const atMs = canceled.ran.finishedMs
  return attempts.map((attempt) => {
    const { ran, job, createdMs } = attempt
    if (ran === undefined || ran.finishedMs <= atMs) return attempt
    if (ran.startedMs >= atMs) return { job, status: 'canceled', createdMs, isPlayed: false }
    return { job, status: 'canceled', createdMs, ran: { ...ran, finishedMs: atMs }, isPlayed: false }
  })
}

function statusAfter(attempts: readonly Attempt[]): Schedule['status'] {
  // The last attempt of each job decides.
  const latest = [...new Map(attempts.map((attempt) => [attempt.job.name, attempt])).values()]
  const has = (status: JobStatus) => latest.some((attempt) => attempt.status === status && attempt.job.mayFail !== true)
  if (has('canceled')) return 'canceled'
  if (has('failed')) return 'failed'
  return latest.some(({ job, status }) => status === 'manual' && job.manual === 'blocking') ? 'manual' : 'success'
}
