import type { Kysely } from 'kysely'
import { findRun, type RunSummary } from '../queries/pipeline-queries.ts'
import type { RunFacts } from '../runs/run-facts.ts'
import type { RefKind } from '../schema/pipeline-tables.ts'
import type { ObserveTables } from '../schema/tables.ts'
import { compareJobs, type JobDifference, toMedianSides, toRunSides } from './compare-runs.ts'
import type { HistoryFilter } from './history/ordered-runs.ts'
import { toMedian } from './history/percentile.ts'
import type { RunHistory } from './history/run-history.ts'
import { findStoredRun, usualRuns } from './history/stored-runs.ts'
import { DAY } from './history/time-buckets.ts'
import {
  createInsights,
  DEFAULT_ENTRIES,
  type InsightsRange,
  type InsightsReport,
  knownSince,
} from './insights-report.ts'

export interface InsightsQuery extends HistoryFilter {
  /** Default: seven days before the end. */
  readonly sinceNs?: bigint | undefined
  /** Default: the end of the current minute. */
  readonly untilNs?: bigint | undefined
  /** How far the viewer's clock is ahead of UTC. */
  readonly offsetMinutes: number
  /** The highest number of entries in each list. */
  readonly limit?: number | undefined
}

export interface Insights extends InsightsReport {
  /** Whether runs may be missing, because more jobs are stored than statistics are computed from. */
  readonly truncated: boolean
}

const DEFAULT_SECONDS = 7 * DAY
const MINUTE_MS = 60_000

/** Returns the range that a query asks for. */
export function insightsRange(query: InsightsQuery, nowMs: number): InsightsRange {
  const { sinceNs, untilNs, offsetMinutes, limit: maxEntries = DEFAULT_ENTRIES } = query
  const until = untilNs === undefined ? Math.ceil(nowMs / MINUTE_MS) * 60 : secondsOf(untilNs)
  const since = sinceNs === undefined ? until - DEFAULT_SECONDS : secondsOf(sinceNs)
  return { since, until, offsetMinutes, maxEntries }
}

export async function readInsights(history: RunHistory, query: InsightsQuery): Promise<Insights> {
  const { service, project, ref } = query
  const filter = { service, project, ref }
  const range = insightsRange(query, history.nowMs())
  const key = JSON.stringify([filter.service, filter.project, filter.ref, range].map((part) => part ?? null))
  const known = knownSince(range)
  return await history.answer(key, async () => {
    const report = createInsights(await history.selectWithUsual(filter, { since: known, until: range.until }), range)
    return { ...report, truncated: history.isTruncatedSince(known) }
  })
}

const secondsOf = (ns: bigint): number => Number(ns / 1_000_000_000n) + Number(ns % 1_000_000_000n) / 1e9

export interface CompareQuery {
  readonly a: string
  /** A trace id, or `median`. */
  readonly b: string
}

/** The median of the last successful runs of the kind of `a` that started before it. */
export interface MedianRun {
  readonly kind: 'median'
  readonly service: string
  readonly project: string | null
  /** The ref of `a`. The other runs may have other refs of the same kind. */
  readonly ref: string | null
  readonly ref_kind: RefKind | null
  readonly name: string | null
  readonly trigger: string | null
  /** The latest run first. */
  readonly trace_ids: readonly string[]
  readonly runs: number
  readonly duration_seconds: number | null
  readonly queue_seconds: number | null
}

export interface RunComparison {
  readonly a: RunSummary
  readonly b: RunSummary | MedianRun
  /** The side that changes are counted from: `a`, or `b` if that is a median. */
  readonly base: 'a' | 'b'
  readonly jobs: readonly JobDifference[]
}

/** Compares two runs, or a run with what is usual for it; `undefined` if a run is not stored. */
export async function compareRuns(
  db: Kysely<ObserveTables>,
  { a, b }: CompareQuery,
): Promise<RunComparison | undefined> {
  const [runA, storedA] = [await findRun(db, a), await findStoredRun(db, a)]
  if (runA === undefined || storedA === undefined) return undefined
  const sidesA = toRunSides(storedA.facts)
  if (b === 'median') {
    const runs = await usualRuns(db, storedA)
    const jobs = compareJobs(sidesA, toMedianSides(runs), 'b')
    return { a: runA, b: medianRun(storedA.facts, runs), base: 'b', jobs }
  }
  const [runB, storedB] = [await findRun(db, b), await findStoredRun(db, b)]
  if (runB === undefined || storedB === undefined) return undefined
  return { a: runA, b: runB, base: 'a', jobs: compareJobs(sidesA, toRunSides(storedB.facts), 'a') }
}

export const medianRun = (run: RunFacts, runs: readonly RunFacts[]): MedianRun => ({
  kind: 'median',
  service: run.service,
  project: run.project,
  ref: run.ref,
  ref_kind: run.refKind,
  name: run.name,
  trigger: run.trigger,
  trace_ids: runs.map(({ traceId }) => traceId),
  runs: runs.length,
  duration_seconds: toMedian(runs.map(({ duration }) => duration)),
  queue_seconds: toMedian(runs.flatMap(({ queue }) => queue ?? [])),
})
