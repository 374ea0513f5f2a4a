/** The times of a job that ran. */
export interface PathStep {
  readonly startNs: bigint
  readonly endNs: bigint
}

/**
 * Returns the jobs on the critical path, the last first: from the job that finishes last, each time to the job that finished
 * last before the current one started. Of jobs that finish at the same time, the one that started first is taken.
 */
export function criticalPath<Job extends PathStep>(jobs: readonly Job[]): Job[] {
  const latestFirst = jobs.toSorted((a, b) => compare(b.endNs, a.endNs) || compare(a.startNs, b.startNs))
  const path: Job[] = []
  for (const job of latestFirst) {
    const current = path.at(-1)
    if (current === undefined || job.endNs <= current.startNs) path.push(job)
  }
  return path
}

const compare = (a: bigint, b: bigint): number => (a < b ? -1 : a > b ? 1 : 0)
