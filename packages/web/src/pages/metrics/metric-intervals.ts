import type { DataPoint, MetricSeries, StoredMetric } from '../../api/metrics.ts'
import { textOfValue } from '../../api/otlp-json.ts'
import { type Lines, pointQuantile, seriesNames } from './metric-points.ts'

const MINUTE = 60_000
const DAY = 1_440 * MINUTE
const DELTA = 1
const MAX_LINES = 6

/** The length of an interval by the length of the range, the shortest range first. */
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
  /** Draws a line per value of this attribute; `null` for a line per name of series, or one line if there are too many names. */
  readonly groupBy: string | null
}

export interface IntervalLines extends Lines {
  readonly intervalMs: number
}

/** Returns the keys by which series of a metric can be grouped: those with several values. */
export function groupKeys(series: readonly Pick<MetricSeries, 'attributes'>[]): readonly string[] {
  const values = new Map<string, Set<string>>()
  for (const { attributes } of series) {
    for (const { key = '', value } of attributes) {
      const known = values.get(key) ?? new Set()
      values.set(key, known.add(textOfValue(value)))
    }
  }
  return [...values].flatMap(([key, { size }]) => (size > 1 ? [key] : [])).sort()
}

/** Returns whether a metric is drawn as values per interval over all series: counters and histograms are, other types are drawn as they are. */
export const hasIntervals = ({ series }: StoredMetric): boolean =>
  series.length > 0 &&
  series.every(({ type, is_monotonic }) => type === 'histogram' || (type === 'sum' && is_monotonic === true))

/**
 * Returns the sums of counters per interval, or p95 and p50 of the observations of histograms, added up over series. Cumulative series
 * count by their increase; the first value of one counts if the series began within the range.
 */
export function intervalLines(metric: StoredMetric, range: IntervalRange): IntervalLines {
  const { sinceMs, untilMs, groupBy } = range
  const intervalMs = intervalLengths.find(([upTo]) => untilMs - sinceMs <= upTo)![1]
  const first = Math.floor(sinceMs / intervalMs)
  const count = Math.max(1, Math.ceil(untilMs / intervalMs) - first)
  const isHistogram = metric.series[0]?.type === 'histogram'
  const maxGroups = MAX_LINES / (isHistogram ? 2 : 1)
  const names = seriesNames(metric.series)
  const isByName = new Set(names).size <= maxGroups
  const groups = new Map<string, Group>()
  for (const [index, series] of metric.series.entries()) {
    const label = groupBy !== null ? groupLabel(series, groupBy) : isByName ? names[index]! : 'all series'
    for (const point of increases(series, sinceMs)) {
      const at = Math.floor(timeMs(point) / intervalMs) - first
      if (at < 0 || at >= count) continue
      const group = groups.get(label) ?? new Group()
      groups.set(label, group)
      group.add(at, point)
    }
  }
  const largest = [...groups].sort(([, a], [, b]) => b.total - a.total)
  const drawn = largest.slice(0, maxGroups)
  const places = Array.from({ length: count }, (_, at) => at)
  return {
    intervalMs,
    times: places.map((at) => (first + at) * intervalMs),
    lines: drawn.flatMap(([label, group]) =>
      isHistogram
        ? [
            { label: `p95 ${label}`, values: places.map((at) => group.quantile(at, 0.95)) },
            { label: `p50 ${label}`, values: places.map((at) => group.quantile(at, 0.5)) },
          ]
        : [{ label, values: places.map((at) => group.sum(at)) }],
    ),
    leftOut: groups.size - drawn.length,
  }
}

function groupLabel({ attributes }: MetricSeries, groupBy: string): string {
  const value = attributes.find(({ key }) => key === groupBy)?.value
  return value === undefined ? `without ${groupBy}` : `${groupBy}=${textOfValue(value).slice(0, 80)}`
}

const timeMs = ({ timeUnixNano = '0' }: DataPoint): number => Number(BigInt(timeUnixNano) / 1_000_000n)

/** Returns what each point of a series adds to those before it. */
function increases({ points, aggregation_temporality }: MetricSeries, sinceMs: number): readonly DataPoint[] {
  const timed = points.filter(({ timeUnixNano }) => timeUnixNano !== undefined)
  if (aggregation_temporality === DELTA) return timed
  return timed.flatMap((point, index): DataPoint[] => {
    const before = timed[index - 1]
    const isNew =
      before === undefined
        ? beganAt(point) >= sinceMs
        : point.startTimeUnixNano !== before.startTimeUnixNano || amount(point) < amount(before)
    if (isNew) return [point]
    return before === undefined ? [] : [difference(point, before)]
  })
}

const beganAt = ({ startTimeUnixNano }: DataPoint): number =>
  startTimeUnixNano === undefined ? Number.NEGATIVE_INFINITY : Number(BigInt(startTimeUnixNano) / 1_000_000n)

const amount = ({ asDouble, asInt, count }: DataPoint): number => asDouble ?? Number(asInt ?? count ?? 0)

function difference(point: DataPoint, before: DataPoint): DataPoint {
  const { min: _min, max: _max, asInt: _asInt, ...rest } = point
  const counts = point.bucketCounts?.map((count, index) => Number(count) - Number(before.bucketCounts?.[index] ?? 0))
  return {
    ...rest,
    ...(point.count === undefined
      ? { asDouble: amount(point) - amount(before) }
      : { count: Number(point.count) - Number(before.count ?? 0) }),
    ...(counts !== undefined && { bucketCounts: counts }),
  }
}

/** The observations of the series of a line in one interval that have the same bounds. */
interface Merged {
  readonly bounds: readonly number[]
  readonly counts: number[]
  min: number
  max: number
  /** Whether every point has `min` and `max`. */
  isBounded: boolean
}

/** The points of the series of a line, by interval. */
class Group {
  readonly #sums = new Map<number, number>()
  readonly #merged = new Map<number, Map<string, Merged>>()
  total = 0

  add(at: number, point: DataPoint): void {
    this.total += amount(point)
    this.#sums.set(at, (this.#sums.get(at) ?? 0) + amount(point))
    const { bucketCounts, explicitBounds = [], min, max } = point
    if (bucketCounts === undefined) return
    const byBounds = this.#merged.get(at) ?? new Map<string, Merged>()
    this.#merged.set(at, byBounds)
    const key = explicitBounds.join()
    const known = byBounds.get(key)
    const merged = known ?? {
      bounds: explicitBounds,
      counts: bucketCounts.map(() => 0),
      ...{ min: Number.POSITIVE_INFINITY, max: Number.NEGATIVE_INFINITY, isBounded: true },
    }
    byBounds.set(key, merged)
    for (const [index, count] of bucketCounts.entries())
      merged.counts[index] = (merged.counts[index] ?? 0) + Number(count)
    merged.isBounded &&= min !== undefined && max !== undefined
    merged.min = Math.min(merged.min, min ?? merged.min)
    merged.max = Math.max(merged.max, max ?? merged.max)
  }

  sum(at: number): number {
    return this.#sums.get(at) ?? 0
  }

  /** Uses the bounds with the most values, if there are several. */
  quantile(at: number, fraction: number): number | null {
    const total = ({ counts }: Merged) => counts.reduce((sum, count) => sum + count, 0)
    const most = [...(this.#merged.get(at)?.values() ?? [])].sort((a, b) => total(b) - total(a))[0]
    if (most === undefined) return null
    const { bounds, counts, min, max, isBounded } = most
    return pointQuantile({ bucketCounts: counts, explicitBounds: bounds, ...(isBounded && { min, max }) }, fraction)
  }
}
