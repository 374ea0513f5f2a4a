import type { Job, JobOfPipeline, Pipeline } from './pipeline.ts'
import { completeStatuses } from './pipeline-status.ts'

/** A stage of a pipeline. Records contain stages only as a field of their jobs. */
export interface Stage {
  /** Unique in the instance: combines the pipeline's key and the stage's place in it. */
  readonly id: number
  readonly name: string
  /** The combined status of its current jobs, which may be an unknown word. */
  readonly status: string
  /** Whether a current job failed that was allowed to fail. */
  readonly hasWarnings: boolean
  /** The current jobs, ordered by name. */
  readonly jobs: readonly JobOfPipeline[]
}

/** Jobs of a stage that are parts of one task: `unit 1/2`, `unit 2/2`. */
export interface JobGroup {
  /** `undefined` for a single job without a name. */
  readonly name: string | undefined
  readonly status: string
  readonly hasWarnings: boolean
  readonly jobs: readonly JobOfPipeline[]
}

/** The number of ids for the stages of one pipeline: more than `MAX_STAGES`, and more than the jobs of a record. */
const STAGES_PER_PIPELINE = 100_000

/** The place of the stage of posted statuses; those of records begin at 1. */
const POSTED_PLACE = 0

const stageId = (pipeline: Pipeline, place: number): number => pipeline.key * STAGES_PER_PIPELINE + place

/** Returns the internal key of the pipeline that a stage belongs to. */
export const pipelineKeyOfStage = (id: number): number => Math.floor(id / STAGES_PER_PIPELINE)

/**
 * Returns the stages in the order of their first jobs. A job without a stage is left out.
 *
 * @param jobs all jobs of the pipeline in the order of their ids, including superseded attempts
 */
export function stagesOf(pipeline: Pipeline, jobs: readonly JobOfPipeline[]): Stage[] {
  const named = jobs.filter(({ stage }) => stage !== undefined)
  const places = pipeline.stageOrder && new Map(pipeline.stageOrder.map((name, index) => [name, index + 1]))
  return [...groupBy(named, ({ stage }) => stage!)].map(([name, all], index) => {
    const current = sortedByName(all.filter(({ isRetried }) => !isRetried))
    // Posted statuses come and go between records, so their stage must not take the place of another.
    const place = all.every(({ posted }) => posted !== undefined) ? POSTED_PLACE : (places?.get(name) ?? index + 1)
    return { id: stageId(pipeline, place), name, ...outcomeOf(current), jobs: current }
  })
}

/** Returns the jobs of a stage grouped by base name; a job without a name is a group of its own. */
export function jobGroupsOf({ jobs }: Pick<Stage, 'jobs'>): JobGroup[] {
  const groups = groupBy(jobs, ({ name, id }) => (name === undefined ? id : baseName(name)))
  return [...groups].map(([key, parts]) => ({
    name: typeof key === 'number' ? undefined : key,
    ...outcomeOf(parts),
    jobs: parts,
  }))
}

const natural = new Intl.Collator('en', { numeric: true })

const sortedByName = (jobs: readonly JobOfPipeline[]): JobOfPipeline[] =>
  jobs.toSorted((a, b) => natural.compare(a.name ?? '', b.name ?? '') || a.id - b.id)

/** Every part is bounded, because names are untrusted and a pipeline has thousands of them. */
const partOfMany = /(?:[\s:]{1,3}(?:\d{1,6}[\s:/\\]{1,3}\d{1,6}|\[[^[\]]*\])){1,3}\s{0,3}$/

/** Returns `unit` for `unit 1/2`, and `build` for `build: [linux, arm64]`. */
export function baseName(name: string): string {
  const base = name.replace(partOfMany, '').trim()
  return base === '' ? name : base
}

type Part = Pick<Job, 'status' | 'allowFailure'>

interface Outcome {
  readonly status: string
  readonly hasWarnings: boolean
}

/** The combined status is that of the first row that contains the statuses of all jobs. */
const ifAll: readonly (readonly [status: string, only: readonly string[]])[] = [
  ['skipped', ['skipped']],
  ['success', ['success', 'skipped']],
  ['canceled', ['success', 'skipped', 'canceled']],
  ['created', ['created', 'skipped']],
  ['pending', ['created', 'skipped', 'pending']],
]
/** Otherwise it is that of the first row with the status of any job. */
const ifAny: readonly (readonly [status: string, has: string])[] = [
  ['running', 'running'],
  ['running', 'pending'],
  ['canceling', 'canceling'],
  ['waiting_for_resource', 'waiting_for_resource'],
  ['waiting_for_callback', 'waiting_for_callback'],
  ['manual', 'manual'],
  ['scheduled', 'scheduled'],
  ['preparing', 'preparing'],
  ['running', 'created'],
  ['failed', 'failed'],
]

/**
 * Returns the combined status of jobs. A job that is allowed to fail is treated as passed if it failed, and as skipped
 * while it waits for a manual action.
 */
export function outcomeOf(jobs: readonly Part[]): Outcome {
  const statuses = new Set(jobs.map(effectiveStatus))
  const hasOnly = (only: readonly string[]) => [...statuses].every((status) => only.includes(status))
  const status =
    ifAll.find(([, only]) => hasOnly(only))?.[0] ??
    ifAny.find(([, has]) => statuses.has(has))?.[0] ??
    // A status that is not in the tables.
    [...statuses].find((word) => !(completeStatuses as readonly string[]).includes(word))!
  return { status, hasWarnings: jobs.some(({ status, allowFailure }) => status === 'failed' && allowFailure) }
}

function effectiveStatus({ status, allowFailure }: Part): string {
  if (!allowFailure) return status
  if (status === 'failed') return 'success'
  return status === 'manual' ? 'skipped' : status
}

/** Groups jobs by key, in the order of the first job of each key. */
function groupBy<Key>(jobs: readonly JobOfPipeline[], keyOf: (job: JobOfPipeline) => Key): Map<Key, JobOfPipeline[]> {
  const groups = new Map<Key, JobOfPipeline[]>()
  for (const job of jobs) {
    const key = keyOf(job)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [job])
    else group.push(job)
  }
  return groups
}
