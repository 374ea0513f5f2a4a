import { criticalPath } from './insights/critical-path.ts'
import type { PipelineJobTable, PipelineRunTable } from './pipeline-tables.ts'

export interface RunNode {
  readonly id: number
  readonly spanId: string
  readonly parentSpanId: string
  readonly trigger: string | null
}

export interface JobNode {
  readonly spanId: string
  readonly parentSpanId: string
  readonly name: string
  readonly stage: string | null
  readonly status: string | null
  readonly isBridge: boolean
  readonly hasRun: boolean
  readonly startNs: bigint
  readonly endNs: bigint
}

export interface StageNode {
  readonly spanId: string
  readonly parentSpanId: string
}

/** The columns of a run that depend on other spans of its trace. */
export type DerivedRun = Pick<PipelineRunTable, 'is_child' | 'jobs' | 'jobs_failed' | 'failed_jobs_json' | 'shape_json'>

/** The columns of a job that depend on other spans of its trace. */
export type DerivedJob = Pick<PipelineJobTable, 'run_id' | 'critical_seconds'>

export interface PipelineTrace {
  readonly runs: readonly RunNode[]
  readonly jobs: readonly JobNode[]
  readonly stages: readonly StageNode[]
}

/** The value of the trigger attribute for a pipeline that another one started as its child. */
const CHILD_TRIGGER = 'parent_pipeline'
const MAX_FAILED_NAMES = 5
const MAX_SHAPE_JOBS = 40
const NS_PER_SECOND = 1e9

/** Derives the columns that depend on several spans. The result does not depend on the order of the spans. */
export function derivePipelineTrace({ runs, jobs, stages }: PipelineTrace): {
  readonly runs: ReadonlyMap<string, DerivedRun>
  readonly jobs: ReadonlyMap<string, DerivedJob>
} {
  const runBySpan = new Map(runs.map((run) => [run.spanId, run]))
  const jobBySpan = new Map(jobs.map((job) => [job.spanId, job]))
  const parentOf = new Map([...stages, ...jobs].map(({ spanId, parentSpanId }) => [spanId, parentSpanId]))
  const onlyRun = runs.length === 1 ? runs[0] : undefined

  /** Walks up through stages and jobs. Jobs below spans that are not stored belong to the only run of the trace. */
  function runOf(job: JobNode): RunNode | undefined {
    const seen = new Set<string>()
    for (let at: string | undefined = job.parentSpanId; at !== undefined && !seen.has(at); at = parentOf.get(at)) {
      const run = runBySpan.get(at)
      if (run !== undefined) return run
      seen.add(at)
    }
    return onlyRun
  }

  const runOfJob = new Map<JobNode, RunNode>()
  const jobsOfRun = new Map<RunNode, JobNode[]>(runs.map((run) => [run, []]))
  for (const job of jobs) {
    const run = runOf(job)
    if (run === undefined) continue
    runOfJob.set(job, run)
    jobsOfRun.get(run)!.push(job)
  }

  const isBelow = ({ parentSpanId }: RunNode): boolean =>
    runBySpan.has(parentSpanId) || jobBySpan.has(parentSpanId) || parentOf.has(parentSpanId)
  const seconds = criticalSeconds(runs, jobsOfRun, jobBySpan)

  return {
    runs: new Map(
      runs.map((run) => [
        run.spanId,
        {
          is_child: Number(run.trigger === CHILD_TRIGGER || isBelow(run)),
          ...summaryOf(jobsOfRun.get(run)!),
        },
      ]),
    ),
    jobs: new Map(
      jobs.map((job) => [
        job.spanId,
        { run_id: runOfJob.get(job)?.id ?? null, critical_seconds: seconds.get(job) ?? 0 },
      ]),
    ),
  }
}

/**
 * Returns the seconds of each job on the critical path of the whole trace. The path of a bridge is that of the runs that it
 * started; a run without a stored bridge has a path of its own.
 */
function criticalSeconds(
  runs: readonly RunNode[],
  jobsOfRun: ReadonlyMap<RunNode, readonly JobNode[]>,
  jobBySpan: ReadonlyMap<string, JobNode>,
): Map<JobNode, number> {
  const earliest = [...jobBySpan.values()].reduce<bigint | undefined>(
    (least, { startNs }) => (least === undefined || startNs < least ? startNs : least),
    undefined,
  )
  // Offsets, because nanoseconds since 1970 are no exact numbers.
  const offset = (ns: bigint) => Number(ns - earliest!)
  const pathJobs = (run: RunNode) =>
    jobsOfRun
      .get(run)!
      .filter(({ hasRun }) => hasRun)
      .map((node) => ({ spanId: node.spanId, start: offset(node.startNs), end: offset(node.endNs), node }))
  const startedBy = new Map<string, RunNode[]>()
  const tops: RunNode[] = []
  for (const run of runs) {
    const bridge = jobBySpan.get(run.parentSpanId)
    if (bridge === undefined) tops.push(run)
    else startedBy.set(bridge.spanId, [...(startedBy.get(bridge.spanId) ?? []), run])
  }
  const seconds = new Map<JobNode, number>()
  for (const run of tops) {
    const path = criticalPath(pathJobs(run), ({ spanId }) => startedBy.get(spanId)?.flatMap(pathJobs))
    for (const { job, exclusive } of path) seconds.set(job.node, exclusive / NS_PER_SECOND)
  }
  return seconds
}

function summaryOf(jobs: readonly JobNode[]): Omit<DerivedRun, 'is_child'> {
  const ordered = jobs.toSorted(byStart)
  const failed = ordered.filter(({ status, isBridge }) => status === 'failed' && !isBridge)
  const names = [...new Set(failed.map(({ name }) => name))].slice(0, MAX_FAILED_NAMES)
  return {
    jobs: jobs.length,
    jobs_failed: failed.length,
    failed_jobs_json: JSON.stringify(names),
    shape_json: JSON.stringify(
      longest(ordered).map(({ name, stage, status, startNs, endNs }) => [
        name,
        stage,
        status,
        String(startNs),
        String(endNs),
      ]),
    ),
  }
}

/** Returns the longest jobs in their given order. */
function longest(ordered: readonly JobNode[]): readonly JobNode[] {
  if (ordered.length <= MAX_SHAPE_JOBS) return ordered
  const length = ({ startNs, endNs }: JobNode) => endNs - startNs
  const chosen = new Set(
    ordered.toSorted((a, b) => compare(length(b), length(a)) || byStart(a, b)).slice(0, MAX_SHAPE_JOBS),
  )
  return ordered.filter((job) => chosen.has(job))
}

const compare = (a: bigint | string, b: bigint | string): number => (a < b ? -1 : a > b ? 1 : 0)
const byStart = (a: JobNode, b: JobNode): number => compare(a.startNs, b.startNs) || compare(a.spanId, b.spanId)
