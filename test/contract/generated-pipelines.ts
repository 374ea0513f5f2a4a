/** One generated pipeline, with the data that a hook has, and without anything that the converter computes. */
export interface GeneratedPipeline {
  readonly id: number
  readonly project: string
  readonly ref: string
  readonly source: string
  readonly status: 'success' | 'failed' | 'canceled'
  /** The creation time, in seconds since the beginning of 2026, like all times here. */
  readonly createdAt: number
  readonly finishedAt: number
  readonly durationSeconds: number
  readonly queuedSeconds: number
  readonly jobs: readonly GeneratedJob[]
}

export interface GeneratedJob {
  readonly id: number
  readonly stage: string
  readonly status: 'success' | 'failed'
  readonly failureReason: string | null
  readonly startedAt: number
  /** The duration, a multiple of 0.25, so that sums are exact in any order. */
  readonly durationSeconds: number
}

const stages = ['build', 'test', 'deploy']
const reasons = ['script_failure', 'runner_system_failure']

/**
 * Generates pipelines that run at the same time and often share metric streams, sorted by their finish time. The same
 * `count` gives the same pipelines.
 */
export function generatePipelines(count: number): GeneratedPipeline[] {
  const pick = randomIntegers(20_260_101)
  const pipelines = Array.from({ length: count }, (_, i): GeneratedPipeline => {
    const id = 1_000 + i
    const createdAt = i * 7 + pick(20)
    const status = (['success', 'success', 'success', 'failed', 'canceled'] as const)[pick(5)]!
    const durationSeconds = 30 + pick(4_000)
    const jobs = Array.from({ length: 1 + pick(8) }, (_, j): GeneratedJob => {
      const failed = status === 'failed' && (j === 0 || pick(3) === 0)
      return {
        id: id * 100 + j,
        stage: stages[pick(stages.length)]!,
        status: failed ? 'failed' : 'success',
        failureReason: failed ? reasons[pick(reasons.length)]! : null,
        startedAt: createdAt + pick(30),
        durationSeconds: pick(8_000) / 4,
      }
    })
    return {
      id,
      project: ['shop', 'stock'][pick(2)]!,
      ref: ['main', 'next'][pick(2)]!,
      source: ['push', 'schedule'][pick(2)]!,
      status,
      createdAt,
      finishedAt: createdAt + durationSeconds + pick(60),
      durationSeconds,
      queuedSeconds: 1 + pick(30),
      jobs,
    }
  })
  return pipelines.toSorted((a, b) => a.finishedAt - b.finishedAt || a.id - b.id)
}

/** Returns a generator of integers below `below`, with a fixed sequence. @see Park and Miller, "minimal standard" generator */
function randomIntegers(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state * 48_271) % 2_147_483_647
    return state % below
  }
}

const startOf2026Ms = Date.UTC(2026, 0, 1)
const date = (seconds: number): string => new Date(startOf2026Ms + seconds * 1_000).toISOString()

/** Returns the pipeline hook that GitLab would send. */
export function hookOf(pipeline: GeneratedPipeline): object {
  const { id, project, jobs } = pipeline
  return {
    object_kind: 'pipeline',
    object_attributes: {
      id,
      ref: pipeline.ref,
      tag: false,
      sha: id.toString(16).padStart(40, '0'),
      source: pipeline.source,
      status: pipeline.status,
      stages,
      created_at: date(pipeline.createdAt),
      finished_at: date(pipeline.finishedAt),
      duration: pipeline.durationSeconds,
      queued_duration: pipeline.queuedSeconds,
    },
    project: {
      id: project.length,
      name: project,
      path_with_namespace: `acme/${project}`,
      web_url: `https://ci.example.com/acme/${project}`,
    },
    builds: jobs.map((job) => ({
      id: job.id,
      stage: job.stage,
      name: `${job.stage} ${job.id}`,
      status: job.status,
      created_at: date(pipeline.createdAt),
      started_at: date(job.startedAt),
      finished_at: date(job.startedAt + job.durationSeconds),
      duration: job.durationSeconds,
      failure_reason: job.failureReason,
      allow_failure: false,
    })),
  }
}

/** Returns the hooks as text, one per line. */
export function ndjsonOf(pipelines: readonly GeneratedPipeline[]): string {
  return pipelines.map((pipeline) => `${JSON.stringify(hookOf(pipeline))}\n`).join('')
}
