import { getOrCreate } from '../runs/map-entry.ts'
import { compareTexts, failureRate } from '../runs/run-facts.ts'
import type { GroupedAttempts } from './attempts.ts'
import { FAILED, type JobName, NONE, PASSED, type RunEntry, type RunTable } from './history/run-table.ts'
import type { KindTotals } from './kind-totals.ts'

export interface FlakyJob {
  readonly name: string
  readonly project: string | null
  /** The number of commits on which it both passed and failed. */
  readonly shas: number
  /** The number of commits on which it passed or failed. */
  readonly shas_total: number
  /** `shas` ÷ `shas_total`. */
  readonly rate: number
  /** The attempts that passed, and those that failed, on all commits. */
  readonly success: number
  readonly failed: number
  /** Failed attempts ÷ all of them. */
  readonly failure_rate: number | null
  /** The latest run with a failure on a commit on which it also passed. */
  readonly last_trace_id: string
  /** The latest results, the oldest first. */
  readonly last_results: readonly string[]
}

const LAST_RESULTS = 24

export interface Flakiness extends JobName {
  readonly attempts: Uint32Array
  readonly shas: number
  readonly shas_total: number
  readonly rate: number
  readonly success: number
  readonly failed: number
}

/**
 * Returns the flaky jobs: those of a project that both passed and failed on one commit, in any runs and attempts. The job with the
 * most such commits comes first. Jobs with the same name are one job, whatever their stage.
 *
 * @param names the numbers of the names that `flakyNames` found
 */
export function countFlaky(table: RunTable, names: ReadonlySet<number>, attempts: GroupedAttempts): Flakiness[] {
  const commits = new CommitResults(table.shaCount)
  return Array.from(names, (name): Flakiness => {
    const own = attempts.ofName(name)
    const counts = countResults(table, own, commits)
    return { ...table.names[name]!, attempts: own, ...counts, rate: counts.shas / counts.shas_total }
  }).sort((a, b) => b.shas - a.shas || b.rate - a.rate || compareNames(a, b))
}

/** Returns what is shown of flaky jobs. */
export function flakyJobs(table: RunTable, counted: readonly Flakiness[]): FlakyJob[] {
  const commits = new CommitResults(table.shaCount)
  return counted.map(({ attempts, ...flaky }) => ({
    ...flaky,
    failure_rate: failureRate(flaky.success, flaky.failed),
    ...latestOf(table, attempts, commits),
  }))
}

const compareNames = (a: JobName, b: JobName): number =>
  compareTexts(a.name, b.name) || compareTexts(a.project, b.project)

/**
 * Returns the numbers of the names that both passed and failed on one commit. Failures are rare, so only the runs of the commits
 * that have one are searched for attempts that passed.
 */
export function flakyNames(
  { columns: { kind, outcome, run }, shaOfRun, shaCount, nameOfKind }: RunTable,
  runs: readonly RunEntry[],
  { failures }: KindTotals,
): ReadonlySet<number> {
  const failedOn = new Map<number, Set<number>>()
  const hasFailure = new Uint8Array(shaCount)
  for (const at of failures) {
    const commit = shaOfRun[run[at]!]!
    if (commit === NONE) continue
    getOrCreate(failedOn, commit, () => new Set()).add(nameOfKind[kind[at]!]!)
    hasFailure[commit] = 1
  }
  const flaky = new Set<number>()
  for (const { slot, from, to } of runs) {
    const commit = shaOfRun[slot]!
    if (hasFailure[commit] === 0) continue
    const failed = failedOn.get(commit)!
    for (let at = from; at < to; at += 1) {
      if (outcome[at] !== PASSED) continue
      const name = nameOfKind[kind[at]!]!
      if (failed.has(name)) flaky.add(name)
    }
  }
  return flaky
}

/** The results of one job on each commit, as bits. */
class CommitResults {
  readonly #results: Uint8Array
  readonly #known: number[] = []

  constructor(commits: number) {
    this.#results = new Uint8Array(commits)
  }

  clear(): void {
    for (const commit of this.#known) this.#results[commit] = 0
    this.#known.length = 0
  }

  add(commit: number, result: number): void {
    const before = this.#results[commit]!
    if (before === 0) this.#known.push(commit)
    this.#results[commit] = before | result
  }

  isFlaky(commit: number): boolean {
    return this.#results[commit] === (PASSED | FAILED)
  }

  get commits(): readonly number[] {
    return this.#known
  }
}

/** Counts results, and leaves those of each commit in `commits`. */
function countResults(
  { columns: { outcome, run }, shaOfRun }: RunTable,
  attempts: Uint32Array,
  commits: CommitResults,
) {
  commits.clear()
  let success = 0
  let failed = 0
  for (let index = 0; index < attempts.length; index += 1) {
    const at = attempts[index]!
    const result = outcome[at]!
    if (result !== PASSED && result !== FAILED) continue
    if (result === PASSED) success += 1
    else failed += 1
    const commit = shaOfRun[run[at]!]!
    if (commit !== NONE) commits.add(commit, result)
  }
  const shas = commits.commits.reduce((sum, commit) => sum + Number(commits.isFlaky(commit)), 0)
  return { success, failed, shas, shas_total: commits.commits.length }
}

/** Returns the latest results of a flaky job, in the order of the starts of its attempts. */
function latestOf(
  table: RunTable,
  attempts: Uint32Array,
  commits: CommitResults,
): Pick<FlakyJob, 'last_trace_id' | 'last_results'> {
  const { outcome, start, run } = table.columns
  countResults(table, attempts, commits)
  const latest: number[] = []
  let last = -1
  for (let index = 0; index < attempts.length; index += 1) {
    const at = attempts[index]!
    const result = outcome[at]!
    if (result !== PASSED && result !== FAILED) continue
    insertByStart(latest, at, start)
    const isFlaky = result === FAILED && commits.isFlaky(table.shaOfRun[run[at]!]!)
    if (isFlaky && (last === -1 || start[at]! >= start[last]!)) last = at
  }
  return {
    last_trace_id: table.runAt(run[last]!).traceId,
    last_results: latest.map((at) => (outcome[at] === FAILED ? 'failed' : 'success')),
  }
}

/** Inserts an attempt into the latest ones, after those that started at the same time. */
function insertByStart(latest: number[], at: number, start: Float64Array): void {
  if (latest.length === LAST_RESULTS && start[at]! < start[latest[0]!]!) return
  let place = latest.length
  while (place > 0 && start[latest[place - 1]!]! > start[at]!) place -= 1
  latest.splice(place, 0, at)
  if (latest.length > LAST_RESULTS) latest.shift()
}
