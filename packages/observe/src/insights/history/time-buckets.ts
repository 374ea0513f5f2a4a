import { failureRate, hasFinished, type RunData } from '../../runs/run-facts.ts'
import { medianAndP95 } from './percentile.ts'

/** Times in seconds since 1970; the end is exclusive. */
export interface TimeSpan {
  readonly since: number
  readonly until: number
}

export interface RunStatistics {
  readonly runs: number
  readonly success: number
  readonly failed: number
  readonly canceled: number
  readonly duration_p50: number | null
  readonly duration_p95: number | null
  readonly queue_p50: number | null
  readonly queue_p95: number | null
  readonly failure_rate: number | null
}

const MINUTE = 60
const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR

/** The size of a bucket by the length of the range, the shortest range first. */
const bucketSizes: readonly (readonly [rangeUpTo: number, bucket: number])[] = [
  [90 * MINUTE, 5 * MINUTE],
  [8 * HOUR, 15 * MINUTE],
  [2 * DAY, HOUR],
  [15 * DAY, 6 * HOUR],
  [120 * DAY, DAY],
  [Number.POSITIVE_INFINITY, 7 * DAY],
]

/**
 * Splits a range into buckets that begin at full hours, quarters and days of a clock that is `offsetMinutes` ahead of UTC. The
 * first and the last bucket may begin before the range and end after it; runs outside of the range are in none.
 */
export function toBuckets({ since, until }: TimeSpan, offsetMinutes: number): TimeSpan[] {
  const size = bucketSizes.find(([rangeUpTo]) => until - since <= rangeUpTo)![1]
  const offset = offsetMinutes * MINUTE
  const buckets: TimeSpan[] = []
  for (let at = Math.floor((since + offset) / size) * size - offset; at < until; at += size) {
    buckets.push({ since: at, until: at + size })
  }
  return buckets
}

/** Returns the beginning of the day of a clock that is `offsetMinutes` ahead of UTC. */
export const dayStart = (time: number, offsetMinutes: number): number =>
  Math.floor((time + offsetMinutes * MINUTE) / DAY) * DAY - offsetMinutes * MINUTE

/** Returns the runs that started in a range, of runs in the order of their start. */
export const startedIn = <Run extends { readonly start: number }>(
  runs: readonly Run[],
  { since, until }: TimeSpan,
): readonly Run[] => runs.slice(firstIndex(runs, since), firstIndex(runs, until))

/** Returns the index of the first run that started at a time or later. */
function firstIndex(runs: readonly { readonly start: number }[], time: number): number {
  let [low, high] = [0, runs.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (runs[middle]!.start < time) low = middle + 1
    else high = middle
  }
  return low
}

export const isWithin = (time: number, { since, until }: TimeSpan): boolean => time >= since && time < until

/** Returns the statistics of runs. Durations are those of finished runs; queue times, of all runs that have one. */
export function toStatistics(runs: readonly RunData[]): RunStatistics {
  const counts = { success: 0, failed: 0, canceled: 0 }
  const durations = new Float64Array(runs.length)
  const queues = new Float64Array(runs.length)
  let [finished, queued] = [0, 0]
  for (const run of runs) {
    if (run.status === 'success' || run.status === 'failed' || run.status === 'canceled') counts[run.status] += 1
    if (hasFinished(run)) durations[finished++] = run.duration
    if (run.queue !== null) queues[queued++] = run.queue
  }
  const duration = medianAndP95(durations.subarray(0, finished))
  const queue = medianAndP95(queues.subarray(0, queued))
  return {
    runs: runs.length,
    ...counts,
    duration_p50: duration.p50,
    duration_p95: duration.p95,
    queue_p50: queue.p50,
    queue_p95: queue.p95,
    failure_rate: failureRate(counts.success, counts.failed),
  }
}
