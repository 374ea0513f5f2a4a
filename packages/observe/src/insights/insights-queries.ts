import { compareJobs, type JobDifference, sidesOfMedian, sidesOfRun } from './compare-runs.ts'
import { type InsightsReport, insightsOf, knownSince } from './insights-report.ts'
import { medianOf } from './percentile.ts'
import type { RunFacts } from './run-facts.ts'
import type { RunFilter, RunHistory } from './run-history.ts'

export interface InsightsQuery extends RunFilter {
  readonly sinceNs: bigint
  readonly untilNs: bigint
  /** How far the viewer's clock is ahead of UTC. */
  readonly offsetMinutes: number
}

export async function readInsights(history: RunHistory, query: InsightsQuery): Promise<InsightsReport> {
  const { sinceNs, untilNs, offsetMinutes, ...filter } = query
  const range = { since: secondsOf(sinceNs), until: secondsOf(untilNs), offsetMinutes }
  return insightsOf(await history.runs(filter, { since: knownSince(range), until: range.until }), range)
}

const secondsOf = (ns: bigint): number => Number(ns / 1_000_000_000n) + Number(ns % 1_000_000_000n) / 1e9

export interface CompareQuery {
  readonly a: string
  /** A trace id, or `median`. */
  readonly b: string
}

/** The median of the last successful runs of a ref. */
export interface MedianRun {
  readonly kind: 'median'
  readonly service: string
  readonly project: string | null
  readonly ref: string | null
  /** The latest run first. */
  readonly trace_ids: readonly string[]
  readonly runs: number
  readonly duration_seconds: number | null
  readonly queue_seconds: number | null
}

export interface ComparedRun {
  readonly kind: 'run'
  readonly trace_id: string
  readonly service: string
  readonly project: string | null
  readonly ref: string | null
  readonly sha: string | null
  readonly status: string | null
  readonly start_ns: string
  readonly duration_seconds: number
  readonly queue_seconds: number | null
}

export interface RunComparison {
  readonly a: ComparedRun
  readonly b: ComparedRun | MedianRun
  /** The side that changes are counted from: `a`, or `b` if that is a median. */
  readonly base: 'a' | 'b'
  readonly jobs: readonly JobDifference[]
}

const RUNS_OF_MEDIAN = 20

/** Compares two runs, or a run with the median of its ref; `undefined` if a run is not stored. */
export async function compareRuns(history: RunHistory, { a, b }: CompareQuery): Promise<RunComparison | undefined> {
  const runA = await history.root(a)
  if (runA === undefined) return undefined
  if (b === 'median') {
    const runs = await history.lastSuccessful(runA, RUNS_OF_MEDIAN)
    const jobs = compareJobs(sidesOfRun(runA), sidesOfMedian(runs), 'b')
    return { a: comparedRun(runA), b: medianRun(runA, runs), base: 'b', jobs }
  }
  const runB = await history.root(b)
  if (runB === undefined) return undefined
  const jobs = compareJobs(sidesOfRun(runA), sidesOfRun(runB), 'a')
  return { a: comparedRun(runA), b: comparedRun(runB), base: 'a', jobs }
}

const medianRun = ({ service, project, ref }: RunFacts, runs: readonly RunFacts[]): MedianRun => ({
  kind: 'median',
  service,
  project,
  ref,
  trace_ids: runs.map(({ traceId }) => traceId),
  runs: runs.length,
  duration_seconds: medianOf(runs.map(({ duration }) => duration)),
  queue_seconds: medianOf(runs.flatMap(({ queue }) => queue ?? [])),
})

const comparedRun = (run: RunFacts): ComparedRun => ({
  kind: 'run',
  trace_id: run.traceId,
  service: run.service,
  project: run.project,
  ref: run.ref,
  sha: run.sha,
  status: run.status,
  start_ns: run.startNs,
  duration_seconds: run.duration,
  queue_seconds: run.queue,
})
