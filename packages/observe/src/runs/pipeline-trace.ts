import type { PipelineJobTable, PipelineRunTable } from '../schema/pipeline-tables.ts'
import { criticalPath, type PathSpan } from './critical-path.ts'
import type { JobFacts, RunData, RunFacts } from './run-facts.ts'

export interface RunNode {
  readonly id: number
  readonly spanId: string
  readonly parentSpanId: string
  readonly trigger: string | null
  readonly startNs: bigint
  readonly endNs: bigint
  /** The facts that do not depend on other spans. */
  readonly facts: Omit<RunData, 'isChild' | 'start' | 'duration'>
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
  readonly runner: string | null
  readonly tags: readonly string[]
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

/**
 * Derives the columns that depend on several spans, by the ids of the spans, and the facts of each run for statistics. The result
 * does not depend on the order of the spans.
 */
export function derivePipelineTrace(trace: PipelineTrace): {
  readonly runs: ReadonlyMap<string, DerivedRun>
  readonly jobs: ReadonlyMap<string, DerivedJob>
  readonly facts: ReadonlyMap<string, RunFacts>
} {
  const { runs, jobs } = trace
  const places = new SpanPlaces(trace)
  const runOfJob = new Map<JobNode, RunNode>()
  const jobsOfRun = new Map<RunNode, JobNode[]>(runs.map((run) => [run, []]))
  for (const job of jobs.toSorted(byStart)) {
    const run = places.runOf(job)
    if (run === undefined) continue
    runOfJob.set(job, run)
    jobsOfRun.get(run)!.push(job)
  }
  const seconds = criticalSeconds(trace, places, jobsOfRun)
  const failedByRun = failedJobs(jobsOfRun, places)
  const derivedRuns = new Map<string, DerivedRun>()
  const facts = new Map<string, RunFacts>()
  for (const run of runs) {
    const own = jobsOfRun.get(run)!
    const isChild = run.trigger === CHILD_TRIGGER || places.isBelow(run)
    derivedRuns.set(run.spanId, { is_child: Number(isChild), ...summaryOf(own, failedByRun.get(run)!) })
    facts.set(run.spanId, {
      ...run.facts,
      isChild,
      ...timesOf(run),
      jobs: own.map((job) => jobFacts(job, seconds.get(job) ?? 0)),
    })
  }
  const derivedJobs = jobs.map(
    (job) => [job.spanId, { run_id: runOfJob.get(job)?.id ?? null, critical_seconds: seconds.get(job) ?? 0 }] as const,
  )
  return { runs: derivedRuns, jobs: new Map(derivedJobs), facts }
}

const NS = 1_000_000_000n

const timesOf = ({ startNs, endNs }: Pick<JobNode, 'startNs' | 'endNs'>) => ({
  start: Number(startNs / NS) + Number(startNs % NS) / NS_PER_SECOND,
  duration: endNs > startNs ? Number(endNs - startNs) / NS_PER_SECOND : 0,
})

const jobFacts = (job: JobNode, critical: number): JobFacts => ({
  name: job.name,
  stage: job.stage,
  status: job.status,
  ...timesOf(job),
  critical,
  isBridge: job.isBridge,
  runner: job.runner,
  tags: job.tags,
})

/** The relations between the spans of a trace. */
class SpanPlaces {
  readonly runBySpan: ReadonlyMap<string, RunNode>
  readonly jobBySpan: ReadonlyMap<string, JobNode>
  readonly #stageParents: ReadonlyMap<string, string>
  readonly #onlyRun: RunNode | undefined

  constructor({ runs, jobs, stages }: PipelineTrace) {
    this.runBySpan = new Map(runs.map((run) => [run.spanId, run]))
    this.jobBySpan = new Map(jobs.map((job) => [job.spanId, job]))
    this.#stageParents = new Map(stages.map(({ spanId, parentSpanId }) => [spanId, parentSpanId]))
    this.#onlyRun = runs.length === 1 ? runs[0] : undefined
  }

  /** Walks up through stages and jobs. Jobs below spans that are not stored belong to the only run of the trace. */
  runOf(job: JobNode): RunNode | undefined {
    const seen = new Set<string>()
    for (let at: string | undefined = job.parentSpanId; at !== undefined && !seen.has(at); at = this.#parentOf(at)) {
      const run = this.runBySpan.get(at)
      if (run !== undefined) return run
      seen.add(at)
    }
    return this.#onlyRun
  }

  isBelow({ parentSpanId }: RunNode): boolean {
    return this.runBySpan.has(parentSpanId) || this.#parentOf(parentSpanId) !== undefined
  }

  /** Returns the run or job that started a run; `undefined` if it is not stored. */
  starterOf({ parentSpanId }: RunNode): RunNode | JobNode | undefined {
    const seen = new Set<string>()
    for (
      let at: string | undefined = parentSpanId;
      at !== undefined && !seen.has(at);
      at = this.#stageParents.get(at)
    ) {
      const starter = this.runBySpan.get(at) ?? this.jobBySpan.get(at)
      if (starter !== undefined) return starter
      seen.add(at)
    }
    return undefined
  }

  /** Returns the run that started a run, also by a job; `undefined` if it is not stored. */
  runThatStarted(run: RunNode): RunNode | undefined {
    const starter = this.starterOf(run)
    return starter === undefined || !('hasRun' in starter) ? starter : this.runOf(starter)
  }

  #parentOf(spanId: string): string | undefined {
    return this.jobBySpan.get(spanId)?.parentSpanId ?? this.#stageParents.get(spanId)
  }
}

/** A span on the way of the critical path, with its job unless it is a run. */
interface StepSpan extends PathSpan<StepSpan> {
  readonly job: JobNode | undefined
  readonly children: StepSpan[]
}

/** Returns the seconds of each job on the critical path of the run at the top of the trace. */
function criticalSeconds(
  { runs }: PipelineTrace,
  places: SpanPlaces,
  jobsOfRun: ReadonlyMap<RunNode, readonly JobNode[]>,
): Map<JobNode, number> {
  const earliest = runs.reduce<bigint>(
    (least, { startNs }) => (startNs < least ? startNs : least),
    runs[0]?.startNs ?? 0n,
  )
  // Offsets, because nanoseconds since 1970 are no exact numbers.
  const offset = (ns: bigint) => Number(ns - earliest)
  const pathSpan = ({ spanId, startNs, endNs }: RunNode | JobNode, job?: JobNode): StepSpan => ({
    spanId,
    job,
    isRun: job === undefined,
    start: offset(startNs),
    end: offset(endNs),
    children: [],
  })
  const spanOfRun = new Map(runs.map((run) => [run, pathSpan(run)]))
  const spanOfBridge = new Map<JobNode, StepSpan>()
  for (const [run, jobs] of jobsOfRun) {
    for (const job of jobs) {
      // A job is one step, whatever its own programs report about themselves.
      if (!job.hasRun || places.jobBySpan.has(job.parentSpanId)) continue
      const span = pathSpan(job, job)
      if (job.isBridge) spanOfBridge.set(job, span)
      spanOfRun.get(run)!.children.push(span)
    }
  }
  const tops: StepSpan[] = []
  for (const [run, span] of spanOfRun) {
    const starter = places.starterOf(run)
    if (starter === undefined) tops.push(span)
    else if ('hasRun' in starter) spanOfBridge.get(starter)?.children.push(span)
    else spanOfRun.get(starter)!.children.push(span)
  }
  const seconds = new Map<JobNode, number>()
  for (const top of tops) {
    for (const [{ job }, ns] of criticalPath(top)) if (job !== undefined) seconds.set(job, ns / NS_PER_SECOND)
  }
  return seconds
}

/** Returns the failed jobs of each run and of the runs that it started, directly or not, without bridges. */
function failedJobs(jobsOfRun: ReadonlyMap<RunNode, readonly JobNode[]>, places: SpanPlaces): Map<RunNode, JobNode[]> {
  const failed = new Map<RunNode, JobNode[]>([...jobsOfRun.keys()].map((run) => [run, []]))
  for (const [run, jobs] of jobsOfRun) {
    const own = jobs.filter(({ status, isBridge }) => status === 'failed' && !isBridge)
    const seen = new Set<RunNode>()
    for (let at: RunNode | undefined = run; at !== undefined && !seen.has(at); at = places.runThatStarted(at)) {
      seen.add(at)
      for (const job of own) failed.get(at)!.push(job)
    }
  }
  for (const jobs of failed.values()) jobs.sort(byStart)
  return failed
}

/**
 * @param jobs in the order of their start
 * @param failed those of the run and of its child pipelines
 */
function summaryOf(jobs: readonly JobNode[], failed: readonly JobNode[]): Omit<DerivedRun, 'is_child'> {
  // A failed bridge names the child pipeline that failed, if that is not stored.
  const named = failed.length > 0 ? failed : jobs.filter(({ status }) => status === 'failed')
  const names = [...new Set(named.map(({ name }) => name))].slice(0, MAX_FAILED_NAMES)
  return {
    jobs: jobs.length,
    jobs_failed: failed.length,
    failed_jobs_json: JSON.stringify(names),
    shape_json: JSON.stringify(
      longest(jobs).map(({ name, stage, status, startNs, endNs }) => [
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
