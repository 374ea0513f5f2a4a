import { getOrCreate } from '../runs/map-entry.ts'
import type { JobFacts, RunFacts } from '../runs/run-facts.ts'
import { toMedian } from './history/percentile.ts'

/** A job of one side. */
interface JobSide {
  readonly seconds: number | null
  readonly status: string | null
}

export type JobChange = 'slower' | 'faster' | 'new' | 'gone' | 'failed' | 'fixed' | 'same'

export interface JobDifference {
  readonly name: string
  readonly stage: string | null
  readonly a_seconds: number | null
  readonly b_seconds: number | null
  /** The later side less the base. */
  readonly delta_seconds: number | null
  readonly a_status: string | null
  readonly b_status: string | null
  readonly change: JobChange
}

/** Durations are the same if they differ by less than this, or by a smaller share of the base. */
const MIN_CHANGE_SECONDS = 1
const MIN_CHANGE_RATIO = 0.05

/**
 * Compares two runs job by job. A job with several attempts is represented by the last. Failures and repairs come first, then jobs
 * that are new or gone, then the largest differences.
 *
 * @param base the side that changes are counted from
 */
export function compareJobs(a: JobSides, b: JobSides, base: 'a' | 'b'): JobDifference[] {
  const keys = [...new Set([...a.keys(), ...b.keys()])]
  const differences = keys.map((key): JobDifference => {
    const [name, stage] = JSON.parse(key) as [string, string | null]
    const [sideA, sideB] = [a.get(key), b.get(key)]
    const [from, to] = base === 'a' ? [sideA, sideB] : [sideB, sideA]
    const isTimed = from?.seconds != null && to?.seconds != null
    return {
      name,
      stage,
      a_seconds: sideA?.seconds ?? null,
      b_seconds: sideB?.seconds ?? null,
      delta_seconds: isTimed ? to.seconds - from.seconds : null,
      a_status: sideA?.status ?? null,
      b_status: sideB?.status ?? null,
      change: changeOf(from, to),
    }
  })
  return differences.sort(
    (x, y) =>
      order[x.change] - order[y.change] ||
      Math.abs(y.delta_seconds ?? 0) - Math.abs(x.delta_seconds ?? 0) ||
      (x.name < y.name ? -1 : 1),
  )
}

const order: Readonly<Record<JobChange, number>> = {
  failed: 0,
  fixed: 1,
  new: 2,
  gone: 3,
  slower: 4,
  faster: 4,
  same: 5,
}

function changeOf(from: JobSide | undefined, to: JobSide | undefined): JobChange {
  if (from === undefined) return 'new'
  if (to === undefined) return 'gone'
  if (to.status === 'failed' && from.status !== 'failed') return 'failed'
  if (from.status === 'failed' && to.status === 'success') return 'fixed'
  if (from.seconds === null || to.seconds === null) return 'same'
  const delta = to.seconds - from.seconds
  if (Math.abs(delta) < Math.max(MIN_CHANGE_SECONDS, MIN_CHANGE_RATIO * from.seconds)) return 'same'
  return delta > 0 ? 'slower' : 'faster'
}

/** The jobs of one side by `[name, stage]` in JSON. */
export type JobSides = ReadonlyMap<string, JobSide>

/** Returns the last attempt of each job of a run. A job that did not run has no time. */
export function toRunSides({ jobs }: Pick<RunFacts, 'jobs'>): JobSides {
  const last = new Map<string, JobFacts>()
  for (const job of jobs) {
    const key = keyOf(job)
    const known = last.get(key)
    if (known === undefined || job.start >= known.start) last.set(key, job)
  }
  return new Map(
    [...last].map(([key, { duration, status }]) => [key, { seconds: duration > 0 ? duration : null, status }]),
  )
}

/** Returns the median of each job over runs. Jobs of fewer than half of the runs are left out. */
export function toMedianSides(runs: readonly Pick<RunFacts, 'jobs'>[]): JobSides {
  const sides = new Map<string, JobSide[]>()
  for (const run of runs) for (const [key, side] of toRunSides(run)) getOrCreate(sides, key, () => []).push(side)
  return new Map(
    [...sides].flatMap(([key, found]) => {
      if (found.length * 2 < runs.length) return []
      const seconds = toMedian(found.flatMap((side) => side.seconds ?? []))
      return [[key, { seconds, status: mostFrequent(found) }] as const]
    }),
  )
}

function mostFrequent(sides: readonly JobSide[]): string | null {
  const counts = new Map<string | null, number>()
  for (const { status } of sides) counts.set(status, (counts.get(status) ?? 0) + 1)
  return [...counts].sort((a, b) => b[1] - a[1])[0]?.[0] ?? null
}

const keyOf = ({ name, stage }: JobFacts): string => JSON.stringify([name, stage])
