import {
  attemptOfJob,
  attemptOfRun,
  isFinished,
  type JobEvent,
  type KnownAttempt,
  type KnownJob,
  type PipelineRecord,
  type RunId,
  withUncountedAttempt,
} from '@penstock/forges'
import { RecentMap } from './recent-map.ts'

interface Attempt extends KnownAttempt {
  finishedAtNs: bigint | undefined
  readonly jobs: KnownJob[]
}

const noJobs: readonly RunId[] = []

/** Finds the attempts of runs of forges that count only those of jobs. It must see all hooks in order of arrival. */
export class UncountedAttempts {
  readonly #runs: RecentMap<string, Map<number, Attempt>>

  /** @param capacity the maximum number of jobs; the runs mentioned least recently are evicted */
  constructor(capacity: number) {
    const of = (attempts: Map<number, Attempt>) =>
      [...attempts.values()].reduce((sum, { jobs }) => sum + jobs.length, 1)
    this.#runs = new RecentMap({ entries: capacity, weight: { max: capacity, of } })
  }

  /** Returns an event as one of the attempt that it is found to belong to. */
  ofJob(run: string, event: JobEvent): JobEvent {
    if (event.attemptsUncounted !== true) return event
    const known = this.#runs.get(run) ?? new Map<number, Attempt>()
    const runAttempt = attemptOfJob(event, known)
    this.#runs.delete(run)
    attemptIn(known, runAttempt).jobs.push(event)
    this.#runs.set(run, known)
    return { ...event, runAttempt }
  }

  /** Returns the record of a run that has ended as the attempt that it is found to be. */
  ofRun(run: string, record: PipelineRecord): PipelineRecord {
    if (record.attemptsUncounted !== true || record.attempt !== undefined || !isFinished(record.status)) return record
    const known = this.#runs.get(run) ?? new Map<number, Attempt>()
    const attempt = attemptOfRun(record, known)
    this.#runs.delete(run)
    attemptIn(known, attempt).finishedAtNs = record.finishedAtNs
    this.#runs.set(run, known)
    return withUncountedAttempt(record, attempt)
  }
}

function attemptIn(known: Map<number, Attempt>, number: number): Attempt {
  const attempt = known.get(number) ?? { finishedAtNs: undefined, jobs: [], exportedJobIds: noJobs }
  known.set(number, attempt)
  return attempt
}
