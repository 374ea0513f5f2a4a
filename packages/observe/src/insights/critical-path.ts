/** One attempt of a job. `start` and `end` may have any unit and origin, but the same for all jobs of a trace. */
export interface PathJob {
  readonly spanId: string
  readonly start: number
  readonly end: number
}

/** A job on the critical path, with its exclusive time in the unit of `PathJob`. */
export interface PathStep<Job extends PathJob = PathJob> {
  readonly job: Job
  readonly exclusive: number
}

/** The nesting of child pipelines that is followed. Telemetry from elsewhere may be nested without an end. */
const MAX_DEPTH = 10

/**
 * Returns the critical path of a pipeline, the earliest job first.
 *
 * It starts at the job that finished last, and continues each time with the job that finished last before the current one
 * started. Of jobs that finished at the same time, the one that started first is chosen. Jobs without duration are never on the
 * path. A bridge with a child pipeline is replaced by the path inside that child pipeline.
 *
 * Jobs on a path never overlap, except those of a child pipeline that outlives its bridge, so the exclusive time of a job is its duration.
 *
 * @param childJobs returns the jobs of the child pipeline that a bridge started; `undefined` for any other job
 */
export function criticalPath<Job extends PathJob>(
  jobs: readonly Job[],
  childJobs: (bridge: Job) => readonly Job[] | undefined = () => undefined,
  depth = 0,
): PathStep<Job>[] {
  const steps: PathStep<Job>[] = []
  for (const job of walkBack(jobs)) {
    const inside = depth < MAX_DEPTH ? childJobs(job) : undefined
    const path = inside === undefined ? [] : criticalPath(inside, childJobs, depth + 1)
    if (path.length === 0) steps.push({ job, exclusive: job.end - job.start })
    else steps.push(...path.reverse())
  }
  return steps.reverse()
}

/** Yields the jobs of one pipeline's path, the last one first. */
function* walkBack<Job extends PathJob>(jobs: readonly Job[]): Generator<Job> {
  const lastFirst = jobs
    .filter(({ start, end }) => end > start)
    .sort((a, b) => b.end - a.end || a.start - b.start || (a.spanId < b.spanId ? -1 : 1))
  let before = Number.POSITIVE_INFINITY
  for (const job of lastFirst) {
    if (job.end > before) continue
    yield job
    before = job.start
  }
}
