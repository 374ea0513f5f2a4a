import type { RunEntry, RunTable } from './history/run-table.ts'

/** The attempts of some jobs. */
export interface GroupedAttempts {
  /** Returns the indexes of the attempts of all kinds with a name in the columns of the table, in the order of their runs. */
  ofName(name: number): Uint32Array
  /** Returns the indexes of the attempts of a kind, in the order of their runs. */
  ofKind(kind: number): Uint32Array
}

const LEFT_OUT = -1

/**
 * Groups the attempts of runs by the name of their job. One pass over all jobs serves every table of jobs.
 *
 * @param names the numbers of the names that are needed
 * @param attempts the number of attempts of each kind in these runs
 */
export function groupAttempts(
  { columns: { kind }, nameOfKind }: RunTable,
  runs: readonly RunEntry[],
  { names, attempts }: { readonly names: ReadonlySet<number>; readonly attempts: Uint32Array },
): GroupedAttempts {
  const groupOfName = new Map([...names].map((name, group) => [name, group]))
  const groupOfKind = Int32Array.from(nameOfKind, (name) => groupOfName.get(name) ?? LEFT_OUT)
  // A counting sort: the first place of each group, then the attempts.
  const ends = new Uint32Array(names.size + 1)
  const kindsOf = new Uint32Array(names.size)
  for (const [number, group] of groupOfKind.entries()) {
    if (group === LEFT_OUT) continue
    ends[group + 1] = ends[group + 1]! + attempts[number]!
    kindsOf[group] = kindsOf[group]! + 1
  }
  for (let group = 1; group <= names.size; group += 1) ends[group] = ends[group]! + ends[group - 1]!
  const places = ends.slice()
  const sorted = new Uint32Array(ends[names.size]!)
  for (const { from, to } of runs) {
    for (let at = from; at < to; at += 1) {
      const group = groupOfKind[kind[at]!]!
      if (group === LEFT_OUT) continue
      sorted[places[group]!] = at
      places[group] = places[group]! + 1
    }
  }
  const ofGroup = (group: number) => sorted.subarray(ends[group]!, ends[group + 1]!)
  return {
    ofName: (name) => ofGroup(groupOfName.get(name)!),
    ofKind(number) {
      const group = groupOfKind[number]!
      const own = ofGroup(group)
      return kindsOf[group] === 1 ? own : own.filter((at) => kind[at] === number)
    },
  }
}

/** Returns the number of attempts of each kind. */
export function countAttempts({ columns: { kind }, kinds }: RunTable, runs: readonly RunEntry[]): Uint32Array {
  const attempts = new Uint32Array(kinds.length)
  for (const { from, to } of runs) {
    for (let at = from; at < to; at += 1) attempts[kind[at]!] = attempts[kind[at]!]! + 1
  }
  return attempts
}
