import { DomainError } from '../../base/kit/domain-error.ts'
import type { Job, PipelineDraft } from './pipeline.ts'
import { isComplete } from './pipeline-status.ts'
import { outcomeOf } from './stage.ts'

/** The states that can be posted. */
export const postedStates = ['pending', 'running', 'success', 'failed', 'canceled', 'skipped'] as const
export type PostedState = (typeof postedStates)[number]

/** The stage of all posted statuses. */
export const POSTED_STAGE = 'external'

/** The states of which a status can still change; posted again afterwards, it becomes a new status. */
export const openStates = ['pending', 'running'] as const

/** The event of each state in GitLab's messages, and the open states in which it is refused. */
const transitions: Readonly<Record<PostedState, { readonly event: string; readonly notFrom: readonly string[] }>> = {
  pending: { event: 'enqueue', notFrom: ['pending', 'running'] },
  running: { event: 'run', notFrom: ['running'] },
  success: { event: 'success', notFrom: [] },
  failed: { event: 'drop', notFrom: [] },
  canceled: { event: 'cancel', notFrom: [] },
  skipped: { event: 'skip', notFrom: ['running'] },
}

/** @throws DomainError `refused`, with the text that clients compare */
export function requireTransition(from: string, to: PostedState): void {
  const { event, notFrom } = transitions[to]
  if (!notFrom.includes(from)) return
  const message = `Cannot transition status via :${event} from :${from} (Reason(s): Status cannot transition via "${event}")`
  throw new DomainError({ code: 'refused', message })
}

/** Returns the status and the times of a job after a state was posted. */
export function jobInState(job: Job, state: PostedState, nowMs: number): Job {
  const startedAtMs = state === 'running' ? nowMs : job.startedAtMs
  const isFinished = state === 'success' || state === 'failed' || state === 'canceled'
  const createdAtMs = job.createdAtMs ?? nowMs
  return {
    ...job,
    status: state,
    failureReason: state === 'failed' ? 'api_failure' : undefined,
    createdAtMs,
    startedAtMs,
    finishedAtMs: isFinished ? nowMs : undefined,
    durationSeconds: isFinished && startedAtMs !== undefined ? (nowMs - startedAtMs) / 1_000 : undefined,
    queuedSeconds: startedAtMs === undefined ? undefined : (startedAtMs - createdAtMs) / 1_000,
  }
}

/** The fields of a pipeline that follow from its posted statuses. */
export function progressOf(
  jobs: readonly Job[],
  createdAtMs: number,
): Pick<PipelineDraft, 'status' | 'startedAtMs' | 'finishedAtMs' | 'durationSeconds' | 'queuedSeconds'> {
  const current = jobs.filter(({ isRetried }) => !isRetried)
  const { status } = outcomeOf(current)
  const starts = current.flatMap(({ startedAtMs, finishedAtMs }) => startedAtMs ?? finishedAtMs ?? [])
  const startedAtMs = starts.length === 0 ? undefined : Math.min(...starts)
  const ends = current.flatMap(({ finishedAtMs, createdAtMs: at }) => finishedAtMs ?? at ?? [])
  return {
    status,
    startedAtMs,
    finishedAtMs: isComplete(status) ? Math.max(...ends) : undefined,
    durationSeconds: isComplete(status) ? busySeconds(current) : undefined,
    queuedSeconds: startedAtMs === undefined ? undefined : (startedAtMs - createdAtMs) / 1_000,
  }
}

/** Returns how long at least one of the jobs was running. */
function busySeconds(jobs: readonly Job[]): number {
  const runs = jobs
    .flatMap(({ startedAtMs, finishedAtMs }) => (startedAtMs && finishedAtMs ? [[startedAtMs, finishedAtMs]] : []))
    .toSorted(([a], [b]) => a! - b!)
  let busyMs = 0
  let until = 0
  for (const [start, end] of runs) {
    busyMs += Math.max(0, end! - Math.max(start!, until))
    until = Math.max(until, end!)
  }
  return busyMs / 1_000
}
