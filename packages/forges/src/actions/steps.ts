import { count, dateAfterEpoch, type Fields, sections, text, warn } from '../body/fields.ts'
import { MAX_STEPS } from '../record/limits.ts'
import type { StepRecord } from '../record/pipeline-record.ts'
import { toOutcome } from './status-words.ts'

/** The time in which the steps of a job can have run. */
export interface JobWindow {
  readonly fromNs: bigint | undefined
  readonly toNs: bigint | undefined
}

/** The status of a step if the forge does not contain it. It has no result. */
const UNKNOWN = 'unknown'

/** Reads the steps of a job in the order of their numbers; `undefined` if the job lists none. */
export function readSteps(job: Fields, window: JobWindow): readonly StepRecord[] | undefined {
  const listed = sections(job, 'steps')
  if (listed === undefined || listed.length === 0) return undefined
  if (listed.length > MAX_STEPS) warn(job, 'steps', `has more than ${MAX_STEPS} steps; the others are left out`)
  return listed
    .slice(0, MAX_STEPS)
    .map((step, index) => ({ number: count(step, 'number') ?? index, record: readStep(step, window) }))
    .sort((a, b) => a.number - b.number)
    .map(({ record }) => record)
}

function readStep(step: Fields, window: JobWindow): StepRecord {
  const state = text(step, 'status')
  const { status } = state === undefined ? { status: UNKNOWN } : toOutcome(state, text(step, 'conclusion'))
  const startedAtNs = dateAfterEpoch(step, 'started_at')
  const finishedAtNs = dateAfterEpoch(step, 'completed_at')
  const name = text(step, 'name')
  if (status !== 'skipped') return { name, status, startedAtNs, finishedAtNs }
  // A skipped step takes no time. Its times are the moment at which it was skipped, or have nothing to do with the job.
  const atNs = [startedAtNs, finishedAtNs].find((timeNs) => isWithin(timeNs, window))
  return { name, status, startedAtNs: atNs, finishedAtNs: atNs }
}

function isWithin(timeNs: bigint | undefined, { fromNs, toNs }: JobWindow): boolean {
  return timeNs !== undefined && fromNs !== undefined && toNs !== undefined && timeNs >= fromNs && timeNs <= toNs
}

/**
 * Returns the steps without statuses that they cannot have: versions before 1.27 of Gitea write the status of the job at each of its
 * steps. If all steps of a job that did not succeed have its status, their own status is unknown.
 */
export function withoutCopiedStatus(steps: readonly StepRecord[] | undefined, jobStatus: string) {
  const isCopied = jobStatus !== 'success' && steps !== undefined && steps.every(({ status }) => status === jobStatus)
  return isCopied ? steps.map((step) => ({ ...step, status: UNKNOWN })) : steps
}
