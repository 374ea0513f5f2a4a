import { criticalPath, type PathJob } from './critical-path.ts'
import { entryOf, type JobFacts, type RunFacts } from './run-facts.ts'

/** A run as stored. Times are split into whole seconds and nanoseconds, because together they do not fit into a number. */
export interface RunRow {
  readonly id: number
  readonly trace_id: string
  readonly span_id: string
  readonly parent_span_id: string
  readonly service: string
  readonly project: string | null
  readonly project_name: string | null
  readonly ref: string | null
  readonly sha: string | null
  readonly status: string | null
  readonly is_child: number
  readonly start_s: number
  readonly start_n: number
  readonly length_ns: number
  readonly queue_seconds: number | null
}

export interface JobRow {
  readonly trace_id: string
  readonly run_id: number
  readonly span_id: string
  readonly name: string
  readonly stage: string | null
  readonly status: string | null
  readonly is_bridge: number
  readonly runner: string | null
  readonly runner_tags_json: string | null
  readonly start_s: number
  readonly start_n: number
  readonly length_ns: number
}

const NS = 1_000_000_000

/** A job, or a child pipeline without a bridge, which has no row. */
interface TimedJob extends PathJob {
  readonly row?: JobRow
}

/** Returns the runs of one trace with their jobs. */
export function factsOfTrace(runs: readonly RunRow[], jobs: readonly JobRow[], texts: TextPool): RunFacts[] {
  const byRun = new Map<number, JobRow[]>()
  for (const row of jobs) entryOf(byRun, row.run_id, () => []).push(row)
  const critical = criticalSeconds(runs, byRun)
  return runs.map((run) => ({
    traceId: run.trace_id,
    spanId: run.span_id,
    service: texts.one(run.service),
    project: texts.one(run.project),
    projectName: texts.one(run.project_name),
    ref: texts.one(run.ref),
    sha: texts.one(run.sha),
    status: texts.one(run.status),
    isChild: run.is_child === 1,
    start: run.start_s + run.start_n / NS,
    duration: run.length_ns / NS,
    queue: run.queue_seconds,
    jobs: (byRun.get(run.id) ?? []).map((row) => jobFacts(row, critical.get(row) ?? 0, texts)),
  }))
}

/** Returns the exclusive time of each job on the critical path of its root run. Other jobs have no entry. */
function criticalSeconds(runs: readonly RunRow[], byRun: ReadonlyMap<number, readonly JobRow[]>): Map<JobRow, number> {
  const baseSeconds = runs[0]?.start_s ?? 0
  const timed = (row: Pick<JobRow, 'span_id' | 'start_s' | 'start_n' | 'length_ns'>): PathJob => {
    // Relative to the trace, nanoseconds are exact.
    const start = (row.start_s - baseSeconds) * NS + row.start_n
    return { spanId: row.span_id, start, end: start + row.length_ns }
  }
  const children = runs.filter(({ is_child }) => is_child === 1)
  const childOf = new Map(children.map((child) => [child.parent_span_id, child]))
  const pathJobs = (run: RunRow): TimedJob[] => {
    const end = timed(run).end
    // Without its bridge, a child pipeline hangs below the run. One that outlives the run did not delay it.
    const direct = children.filter(({ parent_span_id }) => parent_span_id === run.span_id).map(timed)
    const rows = byRun.get(run.id) ?? []
    return [...rows.map((row) => ({ ...timed(row), row })), ...direct.filter((child) => child.end <= end)]
  }
  const bySpan = new Map(children.map((child) => [child.span_id, child]))
  const childJobs = ({ spanId, row }: TimedJob) => {
    const child = row === undefined ? bySpan.get(spanId) : childOf.get(spanId)
    return child && pathJobs(child)
  }
  const critical = new Map<JobRow, number>()
  for (const run of runs) {
    if (run.is_child === 1) continue
    for (const { job, exclusive } of criticalPath(pathJobs(run), childJobs)) {
      if (job.row !== undefined) critical.set(job.row, exclusive / NS)
    }
  }
  return critical
}

const jobFacts = (row: JobRow, critical: number, texts: TextPool): JobFacts => ({
  name: texts.one(row.name),
  stage: texts.one(row.stage),
  status: texts.one(row.status),
  start: row.start_s + row.start_n / NS,
  duration: row.length_ns / NS,
  critical,
  isBridge: row.is_bridge === 1,
  runner: texts.one(row.runner),
  tags: texts.list(row.runner_tags_json),
})

/** Keeps one copy of each text. Hundreds of thousands of jobs share a few names. */
export class TextPool {
  readonly #texts = new Map<string, string>()
  readonly #lists = new Map<string | null, readonly string[]>()

  get size(): number {
    return this.#texts.size + this.#lists.size
  }

  one<Text extends string | null>(text: Text): Text {
    return text === null ? text : (entryOf(this.#texts, text, () => text) as Text)
  }

  list(json: string | null): readonly string[] {
    return entryOf(this.#lists, json, () => (JSON.parse(json ?? '[]') as string[]).map((text) => this.one(text)))
  }
}
