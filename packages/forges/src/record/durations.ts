import { MAX_SECONDS } from './limits.ts'
import type { JobRecord } from './pipeline-record.ts'

const NS_PER_SECOND = 1e9

/** Returns the seconds between two times; `undefined` if one is unknown, or the second is before the first. */
export function secondsBetween(startNs: bigint | undefined, endNs: bigint | undefined): number | undefined {
  if (startNs === undefined || endNs === undefined || endNs < startNs) return undefined
  const seconds = Number(endNs - startNs) / NS_PER_SECOND
  return seconds <= MAX_SECONDS ? seconds : undefined
}

/**
 * Returns the seconds in which at least one job ran, for forges that do not tell how long a run was busy; `undefined` if no
 * job has a start and an end.
 */
export function busySeconds(jobs: readonly JobRecord[]): number | undefined {
  const times = jobs.flatMap(({ status, startedAtNs: startNs, finishedAtNs: endNs }) =>
    status === 'skipped' || startNs === undefined || endNs === undefined || endNs < startNs ? [] : [{ startNs, endNs }],
  )
  if (times.length === 0) return undefined
  times.sort((one, other) => (one.startNs < other.startNs ? -1 : one.startNs > other.startNs ? 1 : 0))
  let busyNs = 0n
  let untilNs = 0n
  for (const { startNs, endNs } of times) {
    if (endNs <= untilNs) continue
    busyNs += endNs - (startNs > untilNs ? startNs : untilNs)
    untilNs = endNs
  }
  return Number(busyNs) / NS_PER_SECOND
}
