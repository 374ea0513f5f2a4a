import { type Kysely, type Selectable, sql } from 'kysely'
import { JobTextCache, unpackRun } from '../../runs/packed-run.ts'
import type { PipelineFactsTable } from '../../schema/pipeline-tables.ts'
import type { ObserveTables } from '../../schema/tables.ts'
import { type HistoryFilter, OrderedRuns } from './ordered-runs.ts'
import { type RunEntry, RunTable } from './run-table.ts'
import type { TimeSpan } from './time-buckets.ts'

/** The limits on what is in memory; the oldest runs beyond them are left out. */
export interface HistoryLimits {
  readonly jobs: number
  readonly runs: number
  /** How many runs one statement reads. */
  readonly runsAtOnce: number
}

const defaultLimits: HistoryLimits = { jobs: 1_000_000, runs: 500_000, runsAtOnce: 1_000 }
/** The unused places of removed runs and jobs after which everything is read again. */
const MAX_UNUSED = 200_000
/** The answers that are kept until a run changes. */
const MAX_ANSWERS = 50

const FROM_THE_LATEST = Number.MAX_SAFE_INTEGER

/** The runs of a range, in order of their start, and the table with their jobs. */
export interface SelectedRuns {
  readonly runs: readonly RunEntry[]
  readonly table: RunTable
}

/**
 * The pipeline runs of the store in memory, for statistics over hundreds of thousands of jobs. Each use reads only the runs
 * that changed since the last one, by the ids of their facts.
 */
export class RunHistory {
  readonly #db: Kysely<ObserveTables>
  readonly nowMs: () => number
  readonly #limits: HistoryLimits
  #table = new RunTable()
  readonly #texts = new JobTextCache()
  /** The runs that are in memory, by their ids in the store. */
  #entries = new Map<number, RunEntry>()
  /** The starts of runs that were left out because of the limits. */
  #leftOut = new Map<number, number>()
  #dataVersion = -1
  #lastFactsId = 0
  /** Facts with lower ids were not read yet; `undefined` if there are none. */
  #unreadBefore: number | undefined = FROM_THE_LATEST
  #isRereading = false
  #inOrder: OrderedRuns | undefined
  readonly #answers = new Map<string, unknown>()

  constructor(db: Kysely<ObserveTables>, nowMs: () => number, limits: Partial<HistoryLimits> = {}) {
    this.#db = db
    this.nowMs = nowMs
    this.#limits = { ...defaultLimits, ...limits }
  }

  /** Returns the runs that started in a range. */
  async select(filter: HistoryFilter, span: TimeSpan): Promise<SelectedRuns> {
    return { runs: (await this.#ordered()).select(filter, span), table: this.#table }
  }

  /** Returns the runs that started in a range, and the earlier ones that decide what is usual for them. */
  async selectWithUsual(filter: HistoryFilter, span: TimeSpan): Promise<SelectedRuns> {
    return { runs: (await this.#ordered()).selectWithUsual(filter, span), table: this.#table }
  }

  async #ordered(): Promise<OrderedRuns> {
    await this.#refresh()
    this.#inOrder ??= new OrderedRuns(this.#table.inOrder())
    return this.#inOrder
  }

  /**
   * Returns whether stored runs that started at this time or later may be missing: there are too many, or the store still derives
   * them from its spans.
   */
  isTruncatedSince(since: number): boolean {
    if (this.#isRereading) return true
    for (const start of this.#leftOut.values()) if (start >= since) return true
    return false
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

  async #refresh(): Promise<void> {
    const state = await this.#readState()
    if (state.dataVersion === this.#dataVersion) return
    if (state.isRereading !== this.#isRereading) this.#forgetAnswers()
    this.#isRereading = state.isRereading
    if (this.#table.unused > MAX_UNUSED) this.#forgetRuns()
    await this.#readChanges()
    if (state.runs !== this.#entries.size + this.#leftOut.size) await this.#removeDeleted()
    this.#leaveOutOldest()
    // Assigned last: after an error, the next use tries again.
    this.#dataVersion = state.dataVersion
  }

  async #readState() {
    const { rows } = await sql<{ dataVersion: number; runs: number; isRereading: number }>`
      select (select data_version from pragma_data_version) as "dataVersion",
        (select count(*) from pipeline_facts) as "runs",
        exists (select 1 from pipeline_rereads) as "isRereading"`.execute(this.#db)
    const { isRereading, ...state } = rows[0]!
    return { ...state, isRereading: isRereading === 1 }
  }

  /**
   * Reads some of the stored runs before they are needed, so that the first answer does not have to wait for all of them.
   *
   * @returns whether there are more
   */
  async readAhead(): Promise<boolean> {
    if (this.#unreadBefore !== undefined) await this.#readEarlier(this.#unreadBefore)
    return this.#unreadBefore !== undefined
  }

  async #readChanges(): Promise<void> {
    while (this.#unreadBefore !== undefined) await this.#readEarlier(this.#unreadBefore)
    for (;;) {
      const rows = await this.#facts().where('id', '>', this.#lastFactsId).orderBy('id').execute()
      for (const row of rows) this.#add(row)
      this.#lastFactsId = rows.at(-1)?.id ?? this.#lastFactsId
      if (rows.length < this.#limits.runsAtOnce) return
    }
  }

  /** Reads the latest of the runs that were not read yet, and leaves out the rest if there are too many. */
  async #readEarlier(before: number): Promise<void> {
    const rows = await this.#facts().where('id', '<', before).orderBy('id', 'desc').execute()
    for (const row of rows) this.#add(row)
    this.#lastFactsId ||= rows[0]?.id ?? 0
    this.#unreadBefore = rows.length < this.#limits.runsAtOnce ? undefined : rows.at(-1)!.id
    if (this.#unreadBefore !== undefined && this.#isTooLarge()) await this.#leaveOutBefore(this.#unreadBefore)
  }

  async #leaveOutBefore(factsId: number): Promise<void> {
    const rest = await this.#db
      .selectFrom('pipeline_facts as facts')
      .innerJoin('pipeline_runs as run', 'run.id', 'facts.run_id')
      .select(['facts.run_id', sql<number>`run.start_ns / 1000000000 + 1`.as('start')])
      .where('facts.id', '<', factsId)
      .execute()
    for (const { run_id, start } of rest) this.#leftOut.set(run_id, start)
    this.#unreadBefore = undefined
  }

  #facts() {
    return this.#db.selectFrom('pipeline_facts').selectAll().limit(this.#limits.runsAtOnce)
  }

  #add({ run_id, ...packed }: Selectable<PipelineFactsTable>): void {
    this.#remove(run_id)
    this.#entries.set(run_id, this.#table.add(unpackRun(packed, this.#texts)))
    this.#forgetAnswers()
  }

  async #removeDeleted(): Promise<void> {
    const rows = await this.#db.selectFrom('pipeline_facts').select('run_id').execute()
    const stored = new Set(rows.map(({ run_id }) => run_id))
    for (const id of [...this.#entries.keys(), ...this.#leftOut.keys()]) {
      if (stored.has(id)) continue
      this.#remove(id)
      this.#forgetAnswers()
    }
  }

  #leaveOutOldest(): void {
    if (!this.#isTooLarge()) return
    const oldestFirst = [...this.#entries].sort(([, a], [, b]) => a.start - b.start)
    for (const [id, { start }] of oldestFirst) {
      if (!this.#isTooLarge()) break
      this.#remove(id)
      this.#leftOut.set(id, start)
    }
    this.#forgetAnswers()
  }

  #isTooLarge(): boolean {
    const { runs, jobs } = this.#table.size
    return runs > this.#limits.runs || jobs > this.#limits.jobs
  }

  #remove(runId: number): void {
    this.#leftOut.delete(runId)
    const entry = this.#entries.get(runId)
    if (entry === undefined) return
    this.#table.remove(entry)
    this.#entries.delete(runId)
  }

  #forgetRuns(): void {
    this.#table = new RunTable()
    this.#entries = new Map()
    this.#leftOut = new Map()
    this.#lastFactsId = 0
    this.#unreadBefore = FROM_THE_LATEST
    this.#forgetAnswers()
  }

  #forgetAnswers(): void {
    this.#inOrder = undefined
    this.#answers.clear()
  }
}
