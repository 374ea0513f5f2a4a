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

interface TimedJob extends PathJob {
  readonly row: JobRow
}

/** Returns the runs of one trace with their jobs. */
export function factsOfTrace(runs: readonly RunRow[], jobs: readonly JobRow[], texts: TextPool): RunFacts[] {
  const baseSeconds = runs[0]?.start_s ?? 0
  const byRun = new Map<number, TimedJob[]>()
  for (const row of jobs) {
    // Relative to the trace, nanoseconds are exact.
    const start = (row.start_s - baseSeconds) * NS + row.start_n
    const timed = { spanId: row.span_id, start, end: start + row.length_ns, row }
    entryOf(byRun, row.run_id, () => []).push(timed)
  }
  const runByBridge = new Map(runs.filter(({ is_child }) => is_child === 1).map((run) => [run.parent_span_id, run.id]))
  const childJobs = ({ spanId }: TimedJob) => {
    const child = runByBridge.get(spanId)
    return child === undefined ? undefined : (byRun.get(child) ?? [])
  }
  const critical = new Map<JobRow, number>()
  for (const { id, is_child } of runs) {
    if (is_child === 1) continue
    const path = criticalPath(byRun.get(id) ?? [], childJobs)
    for (const { job, exclusive } of path) critical.set(job.row, exclusive / NS)
  }
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
    startNs: String(BigInt(run.start_s) * BigInt(NS) + BigInt(run.start_n)),
    duration: run.length_ns / NS,
    queue: run.queue_seconds,
    jobs: (byRun.get(run.id) ?? []).map(({ row }) => jobFacts(row, critical.get(row) ?? 0, texts)),
  }))
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
