import { getOrCreate } from '../runs/map-entry.ts'
import { toMedian } from './history/percentile.ts'
import type { RunEntry, RunTable } from './history/run-table.ts'
import { startedIn, type TimeSpan } from './history/time-buckets.ts'

/** A change of a median counts if it is at least this long and at least this share of the earlier median. */
const MIN_CHANGE_SECONDS = 5
const MIN_CHANGE_RATIO = 0.1

/** The change of the durations of a project's runs of one kind from one time to another. */
export interface Change {
  readonly project: string | null
  readonly median: number
  readonly usual: number
  readonly job: { readonly name: string; readonly rise: number } | undefined
}

export interface Comparison {
  readonly after: TimeSpan
  /** Kinds with fewer runs then are left out. */
  readonly minAfter: number
  /** Returns the runs that those of a kind are compared with, of all runs of that kind in the order of their start. */
  before(runs: readonly RunEntry[]): readonly RunEntry[]
  readonly minBefore: number
}

/**
 * Returns the largest rise of the median duration, as a share, over all kinds with enough runs; `undefined` if the median of none rose
 * enough.
 *
 * @param runs in the order of their start
 */
export function largestChange(
  table: RunTable,
  runs: readonly RunEntry[],
  { after, minAfter, before, minBefore }: Comparison,
): Change | undefined {
  const kinds = new Map<number, RunEntry[]>()
  for (const run of runs) getOrCreate(kinds, run.kind, () => []).push(run)
  const changes = [...kinds.values()].flatMap((all) => {
    const [earlier, later] = [before(all), startedIn(all, after)]
    if (earlier.length < minBefore || later.length < minAfter) return []
    const usual = toMedian(earlier.map(({ duration }) => duration))!
    const median = toMedian(later.map(({ duration }) => duration))!
    const rise = median - usual
    if (rise < MIN_CHANGE_SECONDS || rise < MIN_CHANGE_RATIO * usual) return []
    return [{ median, usual, rise: rise / Math.max(usual, 1), earlier, later }]
  })
  const largest = changes.sort((a, b) => b.rise - a.rise)[0]
  if (largest === undefined) return undefined
  const { median, usual, earlier, later } = largest
  return { project: later[0]!.project, median, usual, job: jobWithLargestRise(table, earlier, later) }
}

/** Returns the job with the largest rise of its mean time on the critical path; `undefined` if none rose by a second. */
function jobWithLargestRise(table: RunTable, before: readonly RunEntry[], after: readonly RunEntry[]): Change['job'] {
  const usual = meanCriticalSeconds(table, before)
  const rises = [...meanCriticalSeconds(table, after)].map(([name, mean]) => ({
    name,
    rise: mean - (usual.get(name) ?? 0),
  }))
  const largest = rises.sort((a, b) => b.rise - a.rise || (a.name < b.name ? -1 : 1))[0]
  return largest !== undefined && largest.rise >= 1 ? largest : undefined
}

/** Returns the mean time on the critical path by the name of the job; the runs are those of one project. */
function meanCriticalSeconds(table: RunTable, runs: readonly RunEntry[]): Map<string, number> {
  const { critical, kind } = table.columns
  const byKind = new Float64Array(table.kinds.length)
  for (const { from, to } of runs) {
    for (let at = from; at < to; at += 1) byKind[kind[at]!] = byKind[kind[at]!]! + critical[at]!
  }
  const sums = new Map<string, number>()
  for (const [number, sum] of byKind.entries()) {
    const { name } = table.kinds[number]!
    if (sum > 0) sums.set(name, (sums.get(name) ?? 0) + sum)
  }
  return new Map([...sums].map(([name, sum]) => [name, sum / runs.length]))
}
