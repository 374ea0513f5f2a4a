import type { JobRecord } from './pipeline-record.ts'
import { compareRunIds, type RunId } from './run-id.ts'

/**
 * Returns jobs and bridges in the form of a record: unique by id, in order of creation, with numbered attempts. The
 * order in `listed` does not affect the result.
 */
export function arrangeJobs(listed: readonly JobRecord[]): readonly JobRecord[] {
  return numberAttempts(sortJobs(listed))
}

/**
 * Returns jobs unique by id and in order of creation, for forges on which several jobs of one attempt may have the same name.
 * The order in `listed` does not affect the result.
 */
export const sortJobs = (listed: readonly JobRecord[]): JobRecord[] => uniqueById(listed).sort(byCreation)

/** Returns the jobs. One that a later attempt names as the attempt before it is no longer effective. */
export function withReplacedAttempts(jobs: readonly JobRecord[]): readonly JobRecord[] {
  const replaced = new Set(jobs.flatMap(({ previousAttemptId }) => previousAttemptId ?? []))
  return replaced.size === 0 ? jobs : jobs.map((job) => (replaced.has(job.id) ? { ...job, effective: false } : job))
}

/** Compares jobs by creation time, then by id. Jobs without a creation time come last. */
function byCreation(one: JobRecord, other: JobRecord): number {
  const [a, b] = [one.createdAtNs, other.createdAtNs]
  if (a === b) return compareRunIds(one.id, other.id)
  if (a === undefined) return 1
  return b === undefined || a < b ? -1 : 1
}

function uniqueById(listed: readonly JobRecord[]): JobRecord[] {
  const jobs = new Map<RunId, JobRecord>()
  for (const job of listed) jobs.set(job.id, job)
  if (jobs.size === listed.length) return [...listed]
  for (const job of listed) jobs.set(job.id, betterOf(job, jobs.get(job.id)!))
  return [...jobs.values()]
}

/**
 * Returns which of two jobs with the same id to keep. It prefers a bridge, then the later end, then the higher attempt,
 * and finally the greater JSON text.
 */
function betterOf(one: JobRecord, other: JobRecord): JobRecord {
  if (one.bridge !== other.bridge) return one.bridge ? one : other
  const [endA, endB] = [one.finishedAtNs ?? 0n, other.finishedAtNs ?? 0n]
  if (endA !== endB) return endA > endB ? one : other
  const [attemptA, attemptB] = [one.attempt ?? 0, other.attempt ?? 0]
  if (attemptA !== attemptB) return attemptA > attemptB ? one : other
  return asText(one) >= asText(other) ? one : other
}

function asText(job: JobRecord): string {
  return JSON.stringify(job, (_, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value))
}

/**
 * Numbers the attempts of each job. Jobs with the same name, stage and kind are attempts of one job. The attempt with
 * the highest id is the effective one.
 */
function numberAttempts(jobs: readonly JobRecord[]): readonly JobRecord[] {
  const numbered = new Map<RunId, JobRecord>()
  for (const attempts of groupAttempts(jobs)) {
    if (attempts.length === 1) continue
    attempts.sort((a, b) => compareRunIds(a.id, b.id))
    let before = 0
    for (const [index, job] of attempts.entries()) {
      const attempt = job.attempt ?? before + 1
      before = attempt
      numbered.set(job.id, {
        ...job,
        attempt,
        previousAttemptId: attempts[index - 1]?.id,
        effective: index === attempts.length - 1,
      })
    }
  }
  return numbered.size === 0 ? jobs : jobs.map((job) => numbered.get(job.id) ?? job)
}

function groupAttempts(jobs: readonly JobRecord[]): Iterable<JobRecord[]> {
  if (new Set(jobs.map((job) => job.name)).size === jobs.length) return [] // usually every name is unique
  const groups = new Map<string, JobRecord[]>()
  for (const job of jobs) {
    if (job.name === undefined) continue
    const key = `${job.bridge} ${job.stage?.length ?? 0} ${job.stage ?? ''} ${job.name}`
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [job])
    else group.push(job)
  }
  return groups.values()
}
