import { FAILED, PASSED, type RunEntry, type RunTable } from './history/run-table.ts'

/** Sums over the attempts of each kind of job, by the index of the kind. */
export interface KindTotals {
  readonly attempts: Uint32Array
  /** The number of runs with an attempt. */
  readonly runs: Uint32Array
  /** The time on the critical path. */
  readonly critical: Float64Array
  readonly success: Uint32Array
  readonly failed: Uint32Array
  /** The failed attempts of all kinds, in the order of their runs. */
  readonly failures: readonly number[]
}

const NO_RUN = -1

/**
 * Returns the totals of the kinds in some runs. All are added in one pass in the order of the columns, because reading the attempts
 * of each kind by themselves, which are far from each other in memory, takes several times as long.
 */
export function totalsByKind({ columns, kinds }: RunTable, entries: readonly RunEntry[]): KindTotals {
  const { kind, outcome } = columns
  const attempts = new Uint32Array(kinds.length)
  const runs = new Uint32Array(kinds.length)
  const critical = new Float64Array(kinds.length)
  const success = new Uint32Array(kinds.length)
  const failed = new Uint32Array(kinds.length)
  const failures: number[] = []
  const lastRun = new Int32Array(kinds.length).fill(NO_RUN)
  for (const { slot, from, to } of entries) {
    for (let at = from; at < to; at += 1) {
      const number = kind[at]!
      attempts[number] = attempts[number]! + 1
      critical[number] = critical[number]! + columns.critical[at]!
      if (lastRun[number] !== slot) {
        lastRun[number] = slot
        runs[number] = runs[number]! + 1
      }
      const result = outcome[at]!
      if (result === PASSED) success[number] = success[number]! + 1
      else if (result === FAILED) {
        failed[number] = failed[number]! + 1
        failures.push(at)
      }
    }
  }
  return { attempts, runs, critical, success, failed, failures }
}
