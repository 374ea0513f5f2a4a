import { DomainError } from '../../base/kit/domain-error.ts'

/** The highest number of stages: the id of a stage has five digits for its place in the pipeline. */
const MAX_STAGES = 99_999
const MAX_CHARACTERS = 1_000_000

/**
 * Returns the order that numbers the stages of a pipeline after a record has changed its jobs. Existing stages keep
 * their places and new ones are appended, so that the Global ID of a stage never becomes that of another. Returns
 * `undefined` as long as this is the order of the jobs. `formerNames` and `names` are in the order of the stages' first
 * jobs.
 *
 * @throws DomainError `refused` if the pipeline has had too many stages
 */
export function nextStageOrder(
  kept: readonly string[] | undefined,
  formerNames: readonly string[],
  names: readonly string[],
): readonly string[] | undefined {
  const former = kept ?? formerNames
  if (kept === undefined && former.every((name, place) => names[place] === name)) return undefined
  const next = [...new Set([...former, ...names])]
  const characters = next.reduce((sum, name) => sum + name.length, 0)
  if (next.length > former.length && (next.length > MAX_STAGES || characters > MAX_CHARACTERS)) {
    throw new DomainError({ code: 'refused', message: 'builds: the pipeline has had too many different stages' })
  }
  return next
}
