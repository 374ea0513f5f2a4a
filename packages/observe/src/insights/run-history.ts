import { type Kysely, sql } from 'kysely'
import type { ObserveTables } from '../tables.ts'
import { entryOf, type RunFacts } from './run-facts.ts'
import type { TimeSpan } from './time-buckets.ts'
import { factsOfTrace, type JobRow, type RunRow, TextPool } from './trace-facts.ts'

export interface HistoryFilter {
  readonly service?: string | undefined
  /** A full path or a name. */
  readonly project?: string | undefined
  readonly ref?: string | undefined
}

/** The limit on jobs in memory; the oldest traces beyond it are left out. */
const MAX_JOBS = 1_000_000
/** The texts that are shared; then a new set begins, because those of deleted runs stay in it. */
const MAX_TEXTS = 500_000
const TRACES_PER_STATEMENT = 500
/** The answers that are kept until a trace changes. */
const MAX_ANSWERS = 50
/** How often it is checked which rows were deleted. */
const DELETIONS_EVERY_MS = 60_000

/** The position up to which the rows of spans are known. */
interface Mark {
  readonly dataVersion: number
  readonly spanRowId: number
  /** Spans with smaller ids, which are stored already, are being read in the background; 0 if all of them are. */
  readonly rereadFrom: number
}

const nothingRead: Mark = { dataVersion: -1, spanRowId: -1, rereadFrom: 0 }

/**
 * The pipeline runs of the store in memory, for statistics over hundreds of thousands of jobs. Each use reads only the traces
 * that changed since the last one.
 */
export class RunHistory {
  readonly #db: Kysely<ObserveTables>
  readonly nowMs: () => number
  readonly #traces = new Map<string, readonly RunFacts[]>()
  #texts = new TextPool()
  #mark = nothingRead
  #deletionsCheckedMs = Number.NEGATIVE_INFINITY
  #inOrder: readonly RunFacts[] | undefined
  #jobs = 0
  /** The latest start of a run that was left out because of the limit. */
  #leftOutUntil = Number.NEGATIVE_INFINITY
  readonly #maxJobs: number
  readonly #answers = new Map<string, unknown>()

  constructor(db: Kysely<ObserveTables>, nowMs: () => number, maxJobs: number = MAX_JOBS) {
    this.#db = db
    this.nowMs = nowMs
    this.#maxJobs = maxJobs
  }

  /** Returns the runs that started in a range, in order of their start. */
  async runs(filter: HistoryFilter, { since, until }: TimeSpan): Promise<RunFacts[]> {
    const runs = await this.#runsInOrder()
    return runs.slice(firstIndex(runs, since), firstIndex(runs, until)).filter((run) => matches(run, filter))
  }

  /** Tells whether stored runs that started at this time or later may be missing from `runs`, because there are too many jobs. */
  isTruncatedSince(since: number): boolean {
    return since <= this.#leftOutUntil
  }

  /** Returns an answer that was computed before, if no run has changed since, and computes it otherwise. */
  async answer<Answer>(key: string, compute: () => Promise<Answer>): Promise<Answer> {
    await this.#refresh()
    if (this.#answers.has(key)) return this.#answers.get(key) as Answer
    const answer = await compute()
    if (this.#answers.size >= MAX_ANSWERS) this.#answers.clear()
    this.#answers.set(key, answer)
    return answer
  }

  /** Returns the root run of a trace; `undefined` if none is stored. */
  async root(traceId: string): Promise<RunFacts | undefined> {
    await this.#refresh()
    const runs = this.#traces.get(traceId) ?? []
    return runs.find(({ isChild }) => !isChild) ?? runs[0]
  }

  /** Returns the last successful runs of the same service, project and ref, without child pipelines; the latest first. */
  async lastSuccessful({ service, project, ref }: RunFacts, limit: number): Promise<RunFacts[]> {
    const found: RunFacts[] = []
    const runs = await this.#runsInOrder()
    for (let at = runs.length - 1; at >= 0 && found.length < limit; at -= 1) {
      const run = runs[at]!
      const isSame = run.service === service && run.project === project && run.ref === ref
      if (isSame && run.status === 'success' && !run.isChild) found.push(run)
    }
    return found
  }

  async #runsInOrder(): Promise<readonly RunFacts[]> {
    await this.#refresh()
    this.#inOrder ??= [...this.#traces.values()].flat().sort((a, b) => a.start - b.start)
    return this.#inOrder
  }

  async #refresh(): Promise<void> {
    const before = this.#mark
    const mark = await this.#readMark()
    const nowMs = this.nowMs()
    const checksDeletions = nowMs - this.#deletionsCheckedMs >= DELETIONS_EVERY_MS
    if (mark.dataVersion === before.dataVersion && !checksDeletions) return
    const changed = await this.#changedTraces(before, mark)
    if (checksDeletions) {
      for (const traceId of await this.#tracesWithDeletions()) changed.add(traceId)
      await this.#forgetLeftOut()
      this.#deletionsCheckedMs = nowMs
    }
    await this.#reload([...changed])
    this.#dropOldest()
    this.#mark = mark
  }

  async #readMark(): Promise<Mark> {
    const { rows } = await sql<Mark>`
      select (select data_version from pragma_data_version) as "dataVersion",
        coalesce((select max(id) from spans), -1) as "spanRowId",
        coalesce((select before_span_row_id from pipeline_rereads), 0) as "rereadFrom"`.execute(this.#db)
    return rows[0]!
  }

  async #changedTraces(before: Mark, now: Mark): Promise<Set<string>> {
    const changed = new Set<string>()
    for (const table of ['pipeline_runs', 'pipeline_jobs', 'pipeline_stages'] as const) {
      const found = await this.#db
        .selectFrom(table)
        .select('trace_id')
        .distinct()
        .where((eb) =>
          eb.or([
            eb('span_row_id', '>', before.spanRowId),
            eb.and([eb('span_row_id', '>=', now.rereadFrom), eb('span_row_id', '<', before.rereadFrom)]),
          ]),
        )
        .execute()
      for (const { trace_id } of found) changed.add(trace_id)
    }
    return changed
  }

  /** Returns the traces in memory that have other runs or another number of jobs than the store. */
  async #tracesWithDeletions(): Promise<string[]> {
    const stored = await this.#db
      .selectFrom('pipeline_runs')
      .select((eb) => ['trace_id', eb.fn.countAll<number>().as('runs'), eb.fn.sum<number>('jobs').as('jobs')])
      .groupBy('trace_id')
      .execute()
    const sizes = new Map(stored.map(({ trace_id, runs, jobs }) => [trace_id, `${runs} ${jobs}`]))
    return [...this.#traces].flatMap(([traceId, runs]) => {
      return sizes.get(traceId) === `${runs.length} ${jobsOf(runs)}` ? [] : [traceId]
    })
  }

  /** Forgets that runs were left out, once they are deleted from the store. */
  async #forgetLeftOut(): Promise<void> {
    if (this.#leftOutUntil === Number.NEGATIVE_INFINITY) return
    const oldest = await this.#db
      .selectFrom('pipeline_runs')
      .select(timeColumns('pipeline_runs'))
      .orderBy('start_ns')
      .limit(1)
      .executeTakeFirst()
    if (oldest !== undefined && oldest.start_s <= this.#leftOutUntil) return
    this.#leftOutUntil = Number.NEGATIVE_INFINITY
    this.#answers.clear()
  }

  async #reload(traceIds: readonly string[]): Promise<void> {
    if (traceIds.length > 0) this.#forgetOrder()
    for (let at = 0; at < traceIds.length; at += TRACES_PER_STATEMENT) {
      const ids = traceIds.slice(at, at + TRACES_PER_STATEMENT)
      const runs = byTrace(await runRows(this.#db, ids))
      const jobs = byTrace(await jobRows(this.#db, ids))
      for (const id of ids) {
        this.#jobs -= jobsOf(this.#traces.get(id) ?? [])
        const found = runs.get(id)
        if (found === undefined) {
          this.#traces.delete(id)
          continue
        }
        const facts = factsOfTrace(found, jobs.get(id) ?? [], this.#texts)
        this.#traces.set(id, facts)
        this.#jobs += jobsOf(facts)
      }
    }
    if (this.#texts.size > MAX_TEXTS) this.#texts = new TextPool()
  }

  #forgetOrder(): void {
    this.#inOrder = undefined
    this.#answers.clear()
  }

  #dropOldest(): void {
    if (this.#jobs <= this.#maxJobs) return
    const oldestFirst = [...this.#traces].sort(([, a], [, b]) => (a[0]?.start ?? 0) - (b[0]?.start ?? 0))
    for (const [traceId, runs] of oldestFirst) {
      if (this.#jobs <= this.#maxJobs) break
      this.#traces.delete(traceId)
      for (const { start } of runs) this.#leftOutUntil = Math.max(this.#leftOutUntil, start)
      this.#jobs -= jobsOf(runs)
    }
    this.#forgetOrder()
  }
}

function byTrace<Row extends { readonly trace_id: string }>(rows: readonly Row[]): Map<string, Row[]> {
  const groups = new Map<string, Row[]>()
  for (const row of rows) entryOf(groups, row.trace_id, () => []).push(row)
  return groups
}

const jobsOf = (runs: readonly RunFacts[]): number => runs.reduce((sum, { jobs }) => sum + jobs.length, 0)

const matches = (run: RunFacts, { service, project, ref }: HistoryFilter): boolean =>
  (service === undefined || run.service === service) &&
  (project === undefined || run.project === project || run.projectName === project) &&
  (ref === undefined || run.ref === ref)

/** Returns the index of the first run that started at a time or later. */
function firstIndex(runs: readonly RunFacts[], time: number): number {
  let [low, high] = [0, runs.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (runs[middle]!.start < time) low = middle + 1
    else high = middle
  }
  return low
}

/** Selects a time as seconds and nanoseconds, and its distance to another one. */
const timeColumns = (table: string) => [
  sql<number>`${sql.ref(`${table}.start_ns`)} / 1000000000`.as('start_s'),
  sql<number>`${sql.ref(`${table}.start_ns`)} % 1000000000`.as('start_n'),
  sql<number>`max(0, ${sql.ref(`${table}.end_ns`)} - ${sql.ref(`${table}.start_ns`)})`.as('length_ns'),
]

function runRows(db: Kysely<ObserveTables>, traceIds: readonly string[]): Promise<RunRow[]> {
  return db
    .selectFrom('pipeline_runs as run')
    .innerJoin('services', 'services.id', 'run.service_id')
    .select(['run.id', 'run.trace_id', 'run.span_id', 'run.parent_span_id', 'services.key as service', 'run.project'])
    .select(['run.project_name', 'run.ref', 'run.sha', 'run.status', 'run.is_child', 'run.queue_seconds'])
    .select(timeColumns('run'))
    .where('run.trace_id', 'in', traceIds)
    .orderBy('run.start_ns')
    .orderBy('run.id')
    .execute() as Promise<RunRow[]>
}

function jobRows(db: Kysely<ObserveTables>, traceIds: readonly string[]): Promise<JobRow[]> {
  return db
    .selectFrom('pipeline_jobs as job')
    .select(['job.trace_id', 'job.run_id', 'job.span_id', 'job.name', 'job.stage', 'job.status', 'job.is_bridge'])
    .select(['job.runner_tags_json'])
    .select((eb) => eb.fn.coalesce('job.runner_name', 'job.runner_id').as('runner'))
    .select(timeColumns('job'))
    .where('job.trace_id', 'in', traceIds)
    .where('job.run_id', 'is not', null)
    .execute() as Promise<JobRow[]>
}
