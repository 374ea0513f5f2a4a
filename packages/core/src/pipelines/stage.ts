import type { Job, JobOfPipeline, Pipeline } from './pipeline.ts'
import { completeStatuses } from './pipeline-status.ts'

/** Jobs of a pipeline that stand for one step of it. Records tell of stages through their jobs alone. */
export interface Stage {
  /** Of the whole instance: of the pipeline, and the stage's place in it. */
  readonly id: number
  readonly name: string
  /** What its current jobs come to; they may tell a word nobody knows. */
  readonly status: string
  /** A current job failed that was allowed to. */
  readonly hasWarnings: boolean
  /** Current ones, by name. */
  readonly jobs: readonly JobOfPipeline[]
}

/** Jobs of a stage that do one thing in several parts: `unit 1/2`, `unit 2/2`. */
export interface JobGroup {
  /** `undefined` where the one job has none. */
  readonly name: string | undefined
  readonly status: string
  readonly hasWarnings: boolean
  readonly jobs: readonly JobOfPipeline[]
}

/** No record holds as many jobs. */
const STAGES_PER_PIPELINE = 100_000

const stageId = (pipeline: Pipeline, place: number): number => pipeline.key * STAGES_PER_PIPELINE + place

/** Returns our own key of the pipeline that a stage belongs to. */
export const pipelineKeyOfStage = (id: number): number => Math.floor(id / STAGES_PER_PIPELINE)

/**
 * In the order of their first jobs. A job that tells of no stage is in none.
 *
 * @param jobs of the pipeline, superseded attempts too, in the order of their ids
 */
export function stagesOf(pipeline: Pipeline, jobs: readonly JobOfPipeline[]): Stage[] {
  const named = jobs.filter(({ stage }) => stage !== undefined)
  const places = pipeline.stageOrder && new Map(pipeline.stageOrder.map((name, index) => [name, index + 1]))
  return [...groupedBy(named, ({ stage }) => stage!)].map(([name, all], index) => {
    const current = inOrder(all.filter(({ isRetried }) => !isRetried))
    return { id: stageId(pipeline, places?.get(name) ?? index + 1), name, ...outcomeOf(current), jobs: current }
  })
}

/** @see spec/graphql-contract.md 5.5 */
export function jobGroupsOf({ jobs }: Pick<Stage, 'jobs'>): JobGroup[] {
  const groups = groupedBy(jobs, ({ name, id }) => (name === undefined ? id : baseName(name)))
  return [...groups].map(([key, parts]) => ({
    name: typeof key === 'number' ? undefined : key,
    ...outcomeOf(parts),
    jobs: parts,
  }))
}

const natural = new Intl.Collator('en', { numeric: true })

const inOrder = (jobs: readonly JobOfPipeline[]): JobOfPipeline[] =>
  jobs.toSorted((a, b) => natural.compare(a.name ?? '', b.name ?? '') || a.id - b.id)

/** Bounded in all its parts: names come from anywhere, and a pipeline has thousands. */
const partOfMany = /(?:[\s:]{1,3}(?:\d{1,6}[\s:/\\]{1,3}\d{1,6}|\[[^[\]]*\])){1,3}\s{0,3}$/

/** `unit` for `unit 1/2`, `build` for `build: [linux, arm64]`. */
export function baseName(name: string): string {
  const base = name.replace(partOfMany, '').trim()
  return base === '' ? name : base
}

type Part = Pick<Job, 'status' | 'allowFailure'>

interface Outcome {
  readonly status: string
  readonly hasWarnings: boolean
}

/** Whether the statuses are all among these. */
type Only = readonly string[]

/** The first that holds of all. */
const ifAll: readonly (readonly [status: string, only: Only])[] = [
  ['skipped', ['skipped']],
  ['success', ['success', 'skipped']],
  ['canceled', ['success', 'skipped', 'canceled']],
  ['created', ['created', 'skipped']],
  ['pending', ['created', 'skipped', 'pending']],
]
/** Else the first that one of them has. */
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

/** What jobs come to together. One that may fail counts as passed when it has, and as skipped while it waits for somebody. */
export function outcomeOf(jobs: readonly Part[]): Outcome {
  const statuses = new Set(jobs.map(countedAs))
  const hasOnly = (only: Only) => [...statuses].every((status) => only.includes(status))
  const status =
    ifAll.find(([, only]) => hasOnly(only))?.[0] ??
    ifAny.find(([, has]) => statuses.has(has))?.[0] ??
    // Words that nobody knows.
    [...statuses].find((word) => !(completeStatuses as readonly string[]).includes(word))!
  return { status, hasWarnings: jobs.some(({ status, allowFailure }) => status === 'failed' && allowFailure) }
}

function countedAs({ status, allowFailure }: Part): string {
  if (!allowFailure) return status
  if (status === 'failed') return 'success'
  return status === 'manual' ? 'skipped' : status
}

/** In the order in which the keys first come. */
function groupedBy<Key>(jobs: readonly JobOfPipeline[], keyOf: (job: JobOfPipeline) => Key): Map<Key, JobOfPipeline[]> {
  const groups = new Map<Key, JobOfPipeline[]>()
  for (const job of jobs) {
    const key = keyOf(job)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [job])
    else group.push(job)
  }
  return groups
}
