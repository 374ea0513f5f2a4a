import type { Comparison, JobDifference } from '../../api/answers.ts'

/** Differences of this many seconds or less are small: they are hidden unless they are asked for. */
export const SMALL_SECONDS = 2

/** Returns by how many seconds a job changed from the base. A job that did not run on one side counts with its whole time. */
export function secondsChanged(
  { a_seconds, b_seconds }: Pick<JobDifference, 'a_seconds' | 'b_seconds'>,
  base: Comparison['base'],
): number {
  const difference = (b_seconds ?? 0) - (a_seconds ?? 0)
  return base === 'a' ? difference : -difference
}

/** Returns whether a job differs by so little that its row can be left out. A job that failed, is new or is gone is never small. */
export function isSmall(job: Pick<JobDifference, 'change' | 'a_seconds' | 'b_seconds'>): boolean {
  const isTime = job.change === 'slower' || job.change === 'faster' || job.change === 'same'
  return isTime && Math.abs(secondsChanged(job, 'a')) <= SMALL_SECONDS
}

/** A piece of the sentence above the table. Names are strong. */
export interface SentencePart {
  readonly text: string
  readonly isName: boolean
}

const MAX_NAMES = 3
const MAX_NAME = 80

export const wordsPart = (text: string): SentencePart => ({ text, isName: false })

export const namePart = (name: string): SentencePart => ({
  text: name.length > MAX_NAME ? `${name.slice(0, MAX_NAME)}…` : name,
  isName: true,
})

/**
 * Returns sentences about the jobs that failed or passed again, and those that only one side has. Without such a difference
 * they are empty.
 */
export function comparisonSentence({ base, jobs }: Pick<Comparison, 'base' | 'jobs'>): readonly SentencePart[] {
  const later = base === 'a' ? 'B' : 'A'
  const of = (change: JobDifference['change']) => jobs.filter((job) => job.change === change && !isSmall(job))
  return [
    ...named(of('failed'), ` failed in ${later}. `),
    ...named(of('fixed'), ` passed again in ${later}. `),
    ...named(of('new'), ` ran only in ${later}. `),
    ...named(of('gone'), ` did not run in ${later}. `),
  ]
}

function named(jobs: readonly JobDifference[], text: string): SentencePart[] {
  if (jobs.length === 0) return []
  const names = jobs
    .slice(0, MAX_NAMES)
    .flatMap(({ name }, index) => [...(index === 0 ? [] : [wordsPart(', ')]), namePart(name)])
  const more = jobs.length > MAX_NAMES ? ` and ${jobs.length - MAX_NAMES} more` : ''
  return [...names, wordsPart(`${more}${text}`)]
}
