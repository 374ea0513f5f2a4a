import type { RunEntry } from './run-table.ts'
import { startedIn } from './time-buckets.ts'

/**
 * The usual duration of a run is the median of the last successful runs of its kind that started before it. Compare, the trace page and the
 * findings use this one definition.
 */
export const USUAL_RUNS = 20

/**
 * Returns the runs that say what is usual for runs that start at a time, in the order of their start.
 *
 * @param passed the successful runs of one kind, in the order of their start
 */
export const usualRunsBefore = (passed: readonly RunEntry[], time: number): readonly RunEntry[] =>
  startedIn(passed, { since: 0, until: time }).slice(-USUAL_RUNS)
