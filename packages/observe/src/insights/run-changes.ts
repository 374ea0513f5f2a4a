import { entryOf } from '../map-entry.ts'
import { medianOf } from './percentile.ts'
import type { RunEntry, RunTable } from './run-table.ts'
import { startedIn, type TimeSpan } from './time-buckets.ts'

/** A change of a median counts if it is at least this long and at least this share of the earlier median. */
const MIN_CHANGE_SECONDS = 5
const MIN_CHANGE_RATIO = 0.1

/** The change of the durations of a project's runs from one time to another. */
export interface Change {
  readonly project: string | null
  readonly median: number
  readonly usual: number
  readonly job: { readonly name: string; readonly rise: number } | undefined
}

/** A range of the comparison. Projects with fewer runs in it are left out. */
export interface ComparedRange {
  readonly span: TimeSpan
  readonly minRuns: number
}

/**
 * Returns the largest rise of the median duration, as a share, over all projects with enough runs; `undefined` if no project's
 * median rose enough.
 *
 * @param runs in the order of their start
 */
export function largestChange(
  table: RunTable,
  runs: readonly RunEntry[],
  { before, after }: { readonly before: ComparedRange; readonly after: ComparedRange },
): Change | undefined {
  const projects = new Map<string | null, { before: RunEntry[]; after: RunEntry[] }>()
  for (const [side, { span }] of [
    ['before', before],
    ['after', after],
  ] as const) {
    for (const run of startedIn(runs, span)) {
      entryOf(projects, run.project, () => ({ before: [], after: [] }))[side].push(run)
    }
  }
  const changes = [...projects].flatMap(([project, runsOf]) => {
    if (runsOf.before.length < before.minRuns || runsOf.after.length < after.minRuns) return []
    const usual = medianOf(runsOf.before.map(({ duration }) => duration))!
    const median = medianOf(runsOf.after.map(({ duration }) => duration))!
    const rise = median - usual
    if (rise < MIN_CHANGE_SECONDS || rise < MIN_CHANGE_RATIO * usual) return []
    return [{ project, median, usual, rise: rise / Math.max(usual, 1), runsOf }]
  })
  const largest = changes.sort((a, b) => b.rise - a.rise)[0]
  if (largest === undefined) return undefined
  const { project, median, usual, runsOf } = largest
  return { project, median, usual, job: jobWithLargestRise(table, runsOf.before, runsOf.after) }
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
