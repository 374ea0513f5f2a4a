import { DomainError } from '../kit/domain-error.ts'
import type { Job } from './pipeline.ts'

/** Ids of stages leave room for no more. */
const MAX_STAGES = 99_999
const MAX_CHARACTERS = 1_000_000

/** Returns the names of the stages, in the order of their first jobs. */
export const stageNames = (jobs: Iterable<Pick<Job, 'stage'>>): string[] => [
  ...new Set([...jobs].flatMap(({ stage }) => stage ?? [])),
]

/**
 * Returns the order that numbers the stages of a pipeline once a record has changed its jobs: stages keep their places, and new
 * ones come behind, so that the Global ID of a stage never becomes that of another. `undefined` while it is the order of the
 * jobs.
 *
 * @throws DomainError `refused` when the pipeline has had too many stages
 */
export function nextStageOrder(
  kept: readonly string[] | undefined,
  formerJobs: Iterable<Pick<Job, 'stage'>>,
  jobs: Iterable<Pick<Job, 'stage'>>,
): readonly string[] | undefined {
  const former = kept ?? stageNames(formerJobs)
  const names = stageNames(jobs)
  if (kept === undefined && former.every((name, place) => names[place] === name)) return undefined
  const next = [...new Set([...former, ...names])]
  const characters = next.reduce((sum, name) => sum + name.length, 0)
  if (next.length > former.length && (next.length > MAX_STAGES || characters > MAX_CHARACTERS)) {
    throw new DomainError({ code: 'refused', message: 'builds: the pipeline has had too many different stages' })
  }
  return next
}
