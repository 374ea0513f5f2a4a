/** One attempt of a job, or a child pipeline. `start` and `end` may have any unit and origin, but the same for a whole trace. */
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
 * started. Of jobs that finished at the same time, the one that started last is chosen. Jobs without duration are never on the
 * path. Inside a bridge, the path goes on in its child pipeline: the bridge comes first and keeps the time that no job on the
 * path of the child covers. Exclusive times never overlap.
 *
 * @param childJobs returns the jobs of the child pipeline that a bridge started; `undefined` for any other job
 */
export function criticalPath<Job extends PathJob>(
  jobs: readonly Job[],
  childJobs: (bridge: Job) => readonly Job[] | undefined = () => undefined,
): PathStep<Job>[] {
  return pathWithin(jobs, childJobs, { start: Number.NEGATIVE_INFINITY, end: Number.POSITIVE_INFINITY }, 0)
}

function pathWithin<Job extends PathJob>(
  jobs: readonly Job[],
  childJobs: (bridge: Job) => readonly Job[] | undefined,
  limits: Pick<PathJob, 'start' | 'end'>,
  depth: number,
): PathStep<Job>[] {
  const steps: PathStep<Job>[] = []
  for (const job of walkBack(jobs)) {
    const within = { start: Math.max(job.start, limits.start), end: Math.min(job.end, limits.end) }
    if (within.end <= within.start) continue
    const inside = depth < MAX_DEPTH ? childJobs(job) : undefined
    const path = inside === undefined ? [] : pathWithin(inside, childJobs, within, depth + 1)
    const covered = path.reduce((sum, { exclusive }) => sum + exclusive, 0)
    steps.push(...path.reverse(), { job, exclusive: within.end - within.start - covered })
  }
  return steps.reverse()
}

/** Yields the jobs of one pipeline's path, the last one first. */
function* walkBack<Job extends PathJob>(jobs: readonly Job[]): Generator<Job> {
  const lastFirst = jobs
    .filter(({ start, end }) => end > start)
    .sort((a, b) => b.end - a.end || b.start - a.start || (a.spanId < b.spanId ? -1 : 1))
  let before = Number.POSITIVE_INFINITY
  for (const job of lastFirst) {
    if (job.end > before) continue
    yield job
    before = job.start
  }
}
