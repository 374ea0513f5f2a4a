import type { MetricGroup, MetricIntervals, StoredMetric } from '../../api/metrics.ts'
import { type Lines, seriesNames } from './metric-points.ts'

const MINUTE = 60
const DAY = 1_440 * MINUTE
export const MAX_LINES = 6

/** The seconds of an interval by the seconds of the range, the shortest range first. */
const intervalLengths: readonly (readonly [rangeUpTo: number, interval: number])[] = [
  [90 * MINUTE, 5 * MINUTE],
  [8 * 60 * MINUTE, 15 * MINUTE],
  [2 * DAY, 60 * MINUTE],
  [15 * DAY, 360 * MINUTE],
  [Number.POSITIVE_INFINITY, DAY],
]

export interface IntervalRange {
  readonly sinceMs: number
  readonly untilMs: number
}

/** Returns the length of the intervals of a range in seconds. */
export const intervalSeconds = ({ sinceMs, untilMs }: IntervalRange): number =>
  intervalLengths.find(([upTo]) => (untilMs - sinceMs) / 1000 <= upTo)![1]

/** Returns whether a metric is drawn as values per interval over all series: counters and histograms are, other types are drawn as they are. */
export const hasIntervals = ({ series }: StoredMetric): boolean =>
  series.length > 0 &&
  series.every(({ type, is_monotonic }) => type === 'histogram' || (type === 'sum' && is_monotonic === true))

/** Returns the lines of the groups: their sums, or p95 and p50 of what they observed. */
export function intervalLines(answer: MetricIntervals, range: IntervalRange, groupBy: string | null): Lines {
  const intervalMs = answer.interval_seconds * 1000
  const first = Math.floor(range.sinceMs / intervalMs)
  const count = Math.max(1, Math.ceil(range.untilMs / intervalMs) - first)
  const isHistogram = answer.type === 'histogram'
  const drawn = answer.groups.slice(0, isHistogram ? MAX_LINES / 2 : MAX_LINES)
  const names = groupNames(answer.groups, groupBy)
  const times = Array.from({ length: count }, (_, at) => (first + at) * intervalMs)
  return {
    times,
    lines: drawn.flatMap(({ intervals }, index) => {
      const byTime = new Map(
        intervals.map((each) => [Number(BigInt(each.start_time_unix_nano) / 1_000_000n), each] as const),
      )
      const name = names[index]!
      if (!isHistogram) return [{ label: name, values: times.map((time) => byTime.get(time)?.amount ?? 0) }]
      return [
        { label: `p95 ${name}`, values: times.map((time) => byTime.get(time)?.p95 ?? null) },
        { label: `p50 ${name}`, values: times.map((time) => byTime.get(time)?.p50 ?? null) },
      ]
    }),
    leftOut: answer.groups_left_out + answer.groups.length - drawn.length,
  }
}

function groupNames(groups: readonly MetricGroup[], groupBy: string | null): readonly string[] {
  if (groupBy !== null) {
    return groups.map(({ attributes: [found] }) =>
      found === undefined ? `without ${groupBy}` : `${groupBy}=${found.value.slice(0, 80)}`,
    )
  }
  if (groups.some(({ service }) => service === null)) return groups.map(() => 'all series')
  return seriesNames(
    groups.map(({ service, attributes }) => ({
      service: service ?? '',
      attributes: attributes.map(({ key, value }) => ({ key, value: { stringValue: value } })),
    })),
  )
}
