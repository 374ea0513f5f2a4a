import type { RunEntry } from './run-table.ts'
import { startedIn } from './time-buckets.ts'

/**
 * The usual duration is the median of this number of runs: the last successful runs of the same kind that started before the run. Compare,
 * the trace page and the findings use this one definition.
 */
export const USUAL_RUNS = 20

/**
 * Returns the runs from which the usual duration at a time is computed, in the order of their start.
 *
 * @param passed the successful runs of one kind, in the order of their start
 */
export const usualRunsBefore = (passed: readonly RunEntry[], time: number): readonly RunEntry[] =>
  startedIn(passed, { since: 0, until: time }).slice(-USUAL_RUNS)
