import type { DataPoint, MetricSeries, StoredMetric } from '../../api/metrics.ts'
import { toValueText } from '../../api/otlp-json.ts'

/** A data point as the table shows it. */
export interface PointRow {
  readonly key: string
  readonly timeNs: string
  readonly series: string
  /** The value; the mean of a histogram. */
  readonly value: number | null
  readonly p50: number | null
  readonly p95: number | null
  readonly count: number | null
  /** The traces of the exemplars. */
  readonly traces: readonly { readonly traceId: string; readonly spanId: string | undefined }[]
}

/** Attributes can hold a megabyte. */
const VALUE_LENGTH = 80
const NAME_LENGTH = 1_000

/**
 * Returns the names of series: their services and attributes as far as they differ, or the service if nothing does. Of attributes that
 * distinguish the same series, such as `pipeline.status` and `cicd.pipeline.result`, only the first is named. Series that differ in their
 * resources only, such as those of the runs of one pipeline, have the same name.
 */
export function seriesNames(series: readonly Pick<MetricSeries, 'attributes' | 'service'>[]): readonly string[] {
  const texts = series.map(
    ({ attributes }) => new Map(attributes.map(({ key = '', value }) => [key, toValueText(value)])),
  )
  const keys = [...new Set(texts.flatMap((text) => [...text.keys()]))]
  const groupings = keys.map((key) => groupingOf(texts.map((text) => text.get(key))))
  const differing = keys.filter((_, at) => /[^0,]/.test(groupings[at]!) && groupings.indexOf(groupings[at]!) === at)
  const hasServices = new Set(series.map(({ service }) => service)).size > 1
  return series.map(({ service }, index) => {
    const parts = differing.flatMap((key) => {
      const value = texts[index]?.get(key)
      return value === undefined ? [] : [`${key}=${shortened(value, VALUE_LENGTH)}`]
    })
    if (parts.length === 0) return service
    return shortened((hasServices ? [service, ...parts] : parts).join(', '), NAME_LENGTH)
  })
}

/** Returns the same text for lists in which the same places have equal values: the place of the first equal value of each. */
const groupingOf = (values: readonly (string | undefined)[]): string => {
  const first = new Map<string | undefined, number>()
  return values
    .map((value, at) => {
      if (!first.has(value)) first.set(value, at)
      return first.get(value)
    })
    .join()
}

const shortened = (text: string, length: number): string => (text.length > length ? `${text.slice(0, length)}…` : text)

/** Returns the data points of all series, the latest first. */
export function pointRows(metric: StoredMetric): readonly PointRow[] {
  const names = seriesNames(metric.series)
  const rows = metric.series.flatMap((series, index) => {
    const name = names[index] ?? ''
    return series.points.flatMap((point, place): PointRow[] =>
      point.timeUnixNano === undefined
        ? []
        : [
            {
              key: `${index}.${place}`,
              timeNs: point.timeUnixNano,
              series: name,
              value: pointValue(point),
              p50: pointQuantile(point, 0.5),
              p95: pointQuantile(point, 0.95),
              count: point.count === undefined ? null : Number(point.count),
              traces: (point.exemplars ?? []).flatMap(({ traceId, spanId }) =>
                traceId === undefined || traceId === '' ? [] : [{ traceId, spanId: spanId || undefined }],
              ),
            },
          ],
    )
  })
  return rows.sort((a, b) => (BigInt(a.timeNs) < BigInt(b.timeNs) ? 1 : BigInt(a.timeNs) > BigInt(b.timeNs) ? -1 : 0))
}

function pointValue({ asDouble, asInt, sum, count }: DataPoint): number | null {
  if (asDouble !== undefined) return asDouble
  if (asInt !== undefined) return Number(asInt)
  return sum === undefined || count === undefined || Number(count) === 0 ? null : sum / Number(count)
}

/**
 * Returns a quantile of a histogram's buckets, interpolated within the bucket and within the least and greatest value, if they are known.
 * Values beyond the last bound are counted as that bound; null if there are no buckets or no values.
 */
export function pointQuantile(point: DataPoint, quantile: number): number | null {
  const found = bucketQuantile(point, quantile)
  const { min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY } = point
  return found === null ? null : Math.min(max, Math.max(min, found))
}

function bucketQuantile({ bucketCounts = [], explicitBounds = [] }: DataPoint, quantile: number): number | null {
  const counts = bucketCounts.map(Number)
  const total = counts.reduce((sum, count) => sum + count, 0)
  if (total === 0 || explicitBounds.length === 0) return null
  const rank = quantile * total
  let below = 0
  for (const [index, count] of counts.entries()) {
    if (count > 0 && below + count >= rank) {
      const upper = explicitBounds[index]
      if (upper === undefined) return explicitBounds.at(-1) ?? null
      const lower = index === 0 ? Math.min(0, upper) : (explicitBounds[index - 1] ?? 0)
      return lower + (upper - lower) * ((rank - below) / count)
    }
    below += count
  }
  return explicitBounds.at(-1) ?? null
}

/** The lines of a chart over the times of all of them. */
export interface Lines {
  readonly times: readonly number[]
  readonly lines: readonly { readonly label: string; readonly values: readonly (number | null)[] }[]
  /** The number of names of series that are not drawn. */
  readonly leftOut: number
}

const MAX_LINES = 6

/**
 * Returns the lines to draw: p50 and p95 of histograms, and the values of the other types. Series with the same name are one line. Of too
 * many, those with the most data points are drawn.
 */
export function toLines(metric: StoredMetric): Lines {
  const byName = pointsByName(metric.series)
  const perName = Math.max(1, ...[...byName.values()].map((points) => measuresOf(points).length))
  const drawn = [...byName].sort(([, a], [, b]) => b.length - a.length).slice(0, MAX_LINES / perName)
  const candidates = drawn.flatMap(([name, points]) =>
    measuresOf(points).map(({ prefix, measure }) => ({
      label: prefix + name,
      values: new Map(points.map((point) => [Number(BigInt(point.timeUnixNano!) / 1_000_000n), measure(point)])),
    })),
  )
  const times = [...new Set(candidates.flatMap(({ values }) => [...values.keys()]))].sort((a, b) => a - b)
  return {
    times,
    lines: candidates.map(({ label, values }) => ({ label, values: times.map((time) => values.get(time) ?? null) })),
    leftOut: byName.size - drawn.length,
  }
}

interface Measure {
  readonly prefix: string
  readonly measure: (point: DataPoint) => number | null
}

const valueMeasures: readonly Measure[] = [{ prefix: '', measure: pointValue }]
const quantileMeasures: readonly Measure[] = [
  { prefix: 'p95 ', measure: (point) => pointQuantile(point, 0.95) },
  { prefix: 'p50 ', measure: (point) => pointQuantile(point, 0.5) },
]

const measuresOf = (points: readonly DataPoint[]): readonly Measure[] =>
  points.some((point) => pointQuantile(point, 0.5) !== null) ? quantileMeasures : valueMeasures

/** Returns the data points that have a time, by the name of their series. */
function pointsByName(series: readonly MetricSeries[]): ReadonlyMap<string, readonly DataPoint[]> {
  const withPoints = series.filter(({ points }) => points.length > 0)
  const names = seriesNames(withPoints)
  const byName = new Map<string, DataPoint[]>()
  for (const [index, { points }] of withPoints.entries()) {
    const name = names[index]!
    byName.set(name, [...(byName.get(name) ?? []), ...points.filter(({ timeUnixNano }) => timeUnixNano !== undefined)])
  }
  return byName
}

const unitWords: Readonly<Record<string, string>> = { '1': '' }
const byteUnits = ['B', 'kB', 'MB', 'GB', 'TB']
const numbers = new Intl.NumberFormat('en-GB', { maximumSignificantDigits: 4 })

/** Returns a value with the unit of its metric. */
export function valueText(value: number | null, unit: string): string {
  if (value === null) return '–'
  if (unit === 'By') {
    const step = value === 0 ? 0 : Math.floor(Math.log10(Math.abs(value)) / 3)
    const scale = Math.min(byteUnits.length - 1, Math.max(0, step))
    return `${numbers.format(value / 1000 ** scale)} ${byteUnits[scale]}`
  }
  const word = unit.startsWith('{') ? unit.slice(1, -1) : (unitWords[unit] ?? unit)
  return word === '' ? numbers.format(value) : `${numbers.format(value)} ${word}`
}

/** Returns how many series a metric has: `1 series`, `1,204 series`. Metrics with many fill a store. */
export const seriesText = (count: number): string => `${count.toLocaleString('en')} series`
