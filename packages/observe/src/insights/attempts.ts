import type { RunEntry, RunTable } from './run-table.ts'

/** The attempts of each group of jobs, in the order of their runs. */
export interface GroupedAttempts {
  readonly groups: number
  /** Returns the indexes of a group's attempts in the columns of the table. */
  of(group: number): Uint32Array
}

/** The group of the kinds that are left out. */
export const NO_GROUP = -1

/**
 * Groups the attempts of runs by the kind of their job.
 *
 * @param groupOfKind the group of each kind, or `NO_GROUP`
 */
export function groupAttempts(
  table: RunTable,
  runs: readonly RunEntry[],
  { groupOfKind, groups }: { readonly groupOfKind: Int32Array; readonly groups: number },
): GroupedAttempts {
  const { kind } = table.columns
  // A counting sort: the number of attempts in each group, then the first place of each, then the attempts.
  const ends = new Uint32Array(groups + 1)
  for (const { from, to } of runs) {
    for (let at = from; at < to; at += 1) {
      const group = groupOfKind[kind[at]!]!
      if (group !== NO_GROUP) ends[group + 1] = ends[group + 1]! + 1
    }
  }
  for (let group = 1; group <= groups; group += 1) ends[group] = ends[group]! + ends[group - 1]!
  const places = ends.slice()
  const attempts = new Uint32Array(ends[groups]!)
  for (const { from, to } of runs) {
    for (let at = from; at < to; at += 1) {
      const group = groupOfKind[kind[at]!]!
      if (group === NO_GROUP) continue
      attempts[places[group]!] = at
      places[group] = places[group]! + 1
    }
  }
  return { groups, of: (group) => attempts.subarray(ends[group]!, ends[group + 1]!) }
}

/** Groups the attempts of each kind of job. */
export function attemptsByKind(table: RunTable, runs: readonly RunEntry[]): GroupedAttempts {
  const groups = table.kinds.length
  return groupAttempts(table, runs, { groupOfKind: Int32Array.from({ length: groups }, (_, kind) => kind), groups })
}
