import { countAttempts } from './attempts.ts'
import type { RunEntry, RunTable } from './history/run-table.ts'
import type { TimeSpan } from './history/time-buckets.ts'

/** The durations of the attempts of some kinds that ran. */
export interface JobDurations {
  /** Returns the durations in all buckets. */
  ofKind(kind: number): Float64Array
  /** Returns the durations in a bucket. */
  inBucket(kind: number, bucket: number): Float64Array
}

const LEFT_OUT = -1

/**
 * Groups durations by kind and bucket in one pass in the order of the columns, so that the values of a kind are side by side in memory.
 *
 * @param runs in the order of their start
 * @param buckets in the order of time; together they cover the runs
 * @param attempts the number of attempts of each kind in these runs
 */
export function groupDurations(
  table: RunTable,
  runs: readonly RunEntry[],
  {
    kinds,
    buckets,
    attempts = countAttempts(table, runs),
  }: { readonly kinds: readonly number[]; readonly buckets: readonly TimeSpan[]; readonly attempts?: Uint32Array },
): JobDurations {
  const { kind, duration } = table.columns
  const groupOfKind = new Int32Array(table.kinds.length).fill(LEFT_OUT)
  for (const [group, number] of kinds.entries()) groupOfKind[number] = group
  const places = new Uint32Array(kinds.length)
  for (let group = 1; group < kinds.length; group += 1) {
    places[group] = places[group - 1]! + attempts[kinds[group - 1]!]!
  }
  const sizes = kinds.reduce((sum, number) => sum + attempts[number]!, 0)
  const durations = new Float64Array(sizes)
  // Before each bucket, and after the last one, the place where each group goes on.
  const edges = [places.slice()]
  let index = 0
  for (const { until } of buckets) {
    for (; index < runs.length && runs[index]!.start < until; index += 1) {
      const { from, to } = runs[index]!
      for (let at = from; at < to; at += 1) {
        const group = groupOfKind[kind[at]!]!
        if (group === LEFT_OUT) continue
        const seconds = duration[at]!
        if (seconds > 0) durations[places[group]!++] = seconds
      }
    }
    edges.push(places.slice())
  }
  const between = (number: number, first: number, end: number) => {
    const group = groupOfKind[number]!
    return durations.subarray(edges[first]![group]!, edges[end]![group]!)
  }
  return {
    ofKind: (number) => between(number, 0, buckets.length),
    inBucket: (number, bucket) => between(number, bucket, bucket + 1),
  }
}
