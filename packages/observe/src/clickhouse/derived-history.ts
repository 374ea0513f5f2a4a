import { OrderedRuns } from '../insights/history/ordered-runs.ts'
import { type RunEntry, RunTable } from '../insights/history/run-table.ts'
import { getOrCreate } from '../runs/map-entry.ts'
import { JobTextCache, type PackedRun, packRun, unpackRun } from '../runs/packed-run.ts'
import type { RunFacts } from '../runs/run-facts.ts'
import { MAX_SQL_INTEGER } from '../schema/time-range.ts'
import { readPipelines, toRunKey } from './pipeline-spans.ts'
import { nanoseconds, readTraceTimes } from './schema/tables.ts'
import type { Source } from './source.ts'

/** The limits on what is in memory; the oldest runs beyond them are left out. */
export interface HistoryLimits {
  readonly jobs: number
  readonly runs: number
}

/** The runs that are in memory, and the table with their jobs. */
interface KnownRuns {
  readonly ordered: OrderedRuns
  readonly table: RunTable
  /** Whether some of the wanted runs may be missing. */
  readonly isTruncated: boolean
}

/** The runs of one trace. */
interface KeptTrace {
  readonly packed: readonly PackedRun[]
  readonly entries: readonly RunEntry[]
  /** The start of its last run. */
  readonly lastStart: number
}

const defaultLimits: HistoryLimits = { jobs: 1_000_000, runs: 500_000 }
/** The share of the limits that is kept when there is too much, so that this is not repeated for each run. */
const KEPT_SHARE = 0.98
/** The unused places of removed runs and jobs after which the table is built again. */
const MAX_UNUSED = 200_000
/** The traces, and the spans of them, that are read at once. More would delay other queries, and take more time for each of them. */
const TRACES_AT_ONCE = 250
const SPANS_AT_ONCE = 10_000
/** The traces that changed since the last time, beyond which everything is read again. */
const MAX_CHANGED = 100_000
/** How long an insert may take from the time that its rows have as that of their arrival. */
const INSERT_MS = 15_000

/**
 * The pipeline runs of the database in memory, for statistics over a million jobs. They are read backwards in time, as far as a query
 * needs, and each use reads only the traces of which spans have arrived since the last one.
 */
export class DerivedHistory {
  readonly #limits: HistoryLimits
  readonly #traces = new Map<string, KeptTrace>()
  readonly #texts = new JobTextCache()
  #table = new RunTable()
  #inOrder: OrderedRuns | undefined
  /** Runs that start at this time or later were read. */
  #readFrom = MAX_SQL_INTEGER
  #isAtBegin = false
  #isFull = false
  /** The time of the server up to which arrivals are known, in milliseconds. */
  #arrivedUpTo: number | undefined
  /** The versions of the traces that arrived shortly before that time: a later insert may belong there too. */
  #latest: ReadonlyMap<string, string> = new Map()
  readonly #changed = new Set<string>()
  #turn: Promise<unknown> = Promise.resolve()
  #isReadingAhead = false

  constructor(limits: HistoryLimits = defaultLimits) {
    this.#limits = limits
  }

  /**
   * Returns the runs from a time on. Some of them may be missing, because there are too many, or because reading them has taken the time
   * of a query; then they are read in the background.
   *
   * @param known the time in seconds from which on runs are wanted
   * @param needed the time from which on they are needed
   * @returns `undefined` if there are too many runs after `needed`
   */
  async select(
    source: Source,
    { known, needed }: { readonly known: number; readonly needed: number },
  ): Promise<KnownRuns | undefined> {
    const isLate = source.deadline()
    return await this.#inTurn(async () => {
      await this.#refresh(source, isLate)
      while (this.#canRead(known) && !isLate()) await this.#readEarlier(source)
      if (this.#canRead(known)) void this.#readAhead(source, known)
      if (this.#isFull && !this.#reaches(needed)) return undefined
      this.#inOrder ??= new OrderedRuns(this.#table.inOrder())
      const isTruncated = !this.#reaches(known) || this.#changed.size > 0
      return { ordered: this.#inOrder, table: this.#table, isTruncated }
    })
  }

  #reaches(seconds: number): boolean {
    return this.#isAtBegin || this.#readFrom <= toNanoseconds(seconds)
  }

  #canRead(seconds: number): boolean {
    return !this.#isFull && !this.#reaches(seconds)
  }

  async #readAhead(source: Source, known: number): Promise<void> {
    if (this.#isReadingAhead) return
    this.#isReadingAhead = true
    try {
      // Queries take their turn between the parts.
      while (this.#canRead(known)) await this.#inTurn(() => this.#readEarlier(source))
    } catch {
      // The next query reads on, and reports the failure if it lasts.
    } finally {
      this.#isReadingAhead = false
    }
  }

  /** Runs some work after the work before it has ended. */
  #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.#turn.then(work)
    this.#turn = result.catch(() => {})
    return result
  }

  async #refresh(source: Source, isLate: () => boolean): Promise<void> {
    const { db, pipelines } = source
    const { now, rows, oldest } = await db.row<{ now: string; rows: string; oldest: string }>(
      `SELECT toUnixTimestamp64Milli(now64(3)) AS now, count() AS rows, ${nanoseconds('min(Timestamp)')} AS oldest
       FROM ${pipelines.runs.table}`,
    )
    if (rows === '0') this.#forget()
    else this.#removeBefore(Number(BigInt(oldest) / 1_000n) / 1e6)
    if (this.#arrivedUpTo !== undefined) await this.#findChanged(source, this.#arrivedUpTo - INSERT_MS)
    this.#arrivedUpTo = Number(now)
    while (this.#changed.size > 0 && !isLate()) {
      const ids = [...this.#changed].slice(0, TRACES_AT_ONCE)
      await this.#read(source, ids)
      for (const id of ids) this.#changed.delete(id)
    }
    this.#leaveOutOldest()
  }

  async #findChanged({ db, pipelines }: Source, sinceMs: number): Promise<void> {
    const rows = await db.rows<{ trace_id: string; version: string; latest: string }>(
      `SELECT TraceId AS trace_id, concat(toString(count()), ' ', toString(max(ArrivedAt))) AS version,
         ${nanoseconds('max(Timestamp)')} AS latest
       FROM ${pipelines.spans.table} WHERE ArrivedAt >= fromUnixTimestamp64Milli({since:Int64})
       GROUP BY trace_id LIMIT {limit:UInt32}`,
      { since: sinceMs, limit: MAX_CHANGED },
    )
    if (rows.length === MAX_CHANGED) this.#forget()
    for (const { trace_id, version, latest } of rows) {
      // An earlier trace is read when its time is reached.
      const isReached = this.#isAtBegin || this.#traces.has(trace_id) || BigInt(latest) >= this.#readFrom
      if (isReached && this.#latest.get(trace_id) !== version) this.#changed.add(trace_id)
    }
    this.#latest = new Map(rows.map(({ trace_id, version }) => [trace_id, version]))
  }

  /** Reads the latest of the runs that were not read yet. */
  async #readEarlier(source: Source): Promise<void> {
    const rows = await source.db.rows<{ ns: string; trace_id: string }>(
      `SELECT ${nanoseconds('Timestamp')} AS ns, TraceId AS trace_id FROM ${source.pipelines.runs.table}
       WHERE Timestamp < fromUnixTimestamp64Nano({before:Int64})
       ORDER BY Timestamp DESC LIMIT {limit:UInt32} WITH TIES`,
      { before: String(this.#readFrom), limit: TRACES_AT_ONCE },
    )
    const ids = [...new Set(rows.map(({ trace_id }) => trace_id))].filter((id) => !this.#traces.has(id))
    for (let at = 0; at < ids.length; at += TRACES_AT_ONCE) await this.#read(source, ids.slice(at, at + TRACES_AT_ONCE))
    if (rows.length < TRACES_AT_ONCE) this.#isAtBegin = true
    else this.#readFrom = BigInt(rows.at(-1)!.ns)
    this.#leaveOutOldest()
  }

  /** Reads the runs of some traces, or removes them if they are gone. */
  async #read(source: Source, ids: readonly string[]): Promise<void> {
    const { db, schema, pipelines } = source
    const times = await readTraceTimes(db, schema, ids)
    if (times === undefined) {
      for (const id of ids) this.#remove(id)
      return
    }
    const { table, inRange } = pipelines.spans
    const counts = await db.rows<{ trace_id: string; spans: string }>(
      `SELECT TraceId AS trace_id, count() AS spans FROM ${table}
       WHERE ${inRange} AND TraceId IN {ids:Array(String)} GROUP BY trace_id`,
      { ...times, ids },
    )
    const spansOf = new Map(counts.map(({ trace_id, spans }) => [trace_id, Number(spans)]))
    for (const part of inParts(ids, (id) => spansOf.get(id) ?? 0)) {
      const runs = await readPipelines(source, pipelines.spans, { ids: part, ...times })
      const byTrace = new Map<string, RunFacts[]>()
      for (const { facts } of [...runs.values()].sort((a, b) => (toRunKey(a.summary) < toRunKey(b.summary) ? -1 : 1))) {
        getOrCreate(byTrace, facts.traceId, () => []).push(facts)
      }
      for (const id of part) {
        this.#remove(id)
        this.#keep(id, byTrace.get(id) ?? [])
      }
    }
  }

  #keep(traceId: string, facts: readonly RunFacts[]): void {
    if (facts.length === 0) return
    const packed = facts.map(packRun)
    const entries = packed.map((run) => this.#table.add(unpackRun(run, this.#texts)))
    this.#traces.set(traceId, { packed, entries, lastStart: Math.max(...facts.map(({ start }) => start)) })
    this.#inOrder = undefined
  }

  #remove(traceId: string): void {
    const trace = this.#traces.get(traceId)
    if (trace === undefined) return
    for (const entry of trace.entries) this.#table.remove(entry)
    this.#traces.delete(traceId)
    this.#inOrder = undefined
    if (this.#table.unused > MAX_UNUSED) this.#compact()
  }

  /** Builds the table again, without the places of removed runs. */
  #compact(): void {
    this.#table = new RunTable()
    for (const [id, trace] of this.#traces) {
      const entries = trace.packed.map((run) => this.#table.add(unpackRun(run, this.#texts)))
      this.#traces.set(id, { ...trace, entries })
    }
  }

  /** Removes the runs that the database has deleted. */
  #removeBefore(oldest: number): void {
    for (const [id, { lastStart }] of this.#traces) if (lastStart < oldest) this.#remove(id)
    if (toNanoseconds(oldest) >= this.#readFrom) this.#isAtBegin = true
  }

  #leaveOutOldest(): void {
    if (this.#sizeToLimit <= 1) return
    const oldestFirst = [...this.#traces].sort(([, a], [, b]) => a.lastStart - b.lastStart)
    for (const [id, { lastStart }] of oldestFirst) {
      if (this.#sizeToLimit <= KEPT_SHARE) break
      this.#remove(id)
      const after = toNanoseconds(lastStart) + 1_000n
      if (after > this.#readFrom) this.#readFrom = after
    }
    this.#isFull = true
    this.#isAtBegin = false
  }

  get #sizeToLimit(): number {
    const { runs, jobs } = this.#table.size
    return Math.max(runs / this.#limits.runs, jobs / this.#limits.jobs)
  }

  #forget(): void {
    this.#traces.clear()
    this.#table = new RunTable()
    this.#inOrder = undefined
    this.#readFrom = MAX_SQL_INTEGER
    this.#isAtBegin = false
    this.#isFull = false
    this.#changed.clear()
  }
}

const toNanoseconds = (seconds: number): bigint => BigInt(Math.floor(seconds * 1e6)) * 1_000n

/** Splits traces into parts that have about as many spans as one statement returns. */
function* inParts(ids: readonly string[], spansOf: (id: string) => number): Generator<readonly string[]> {
  let part: string[] = []
  let spans = 0
  for (const id of ids) {
    if (part.length > 0 && spans + spansOf(id) > SPANS_AT_ONCE) {
      yield part
      part = []
      spans = 0
    }
    part.push(id)
    spans += spansOf(id)
  }
  if (part.length > 0) yield part
}
