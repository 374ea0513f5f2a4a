import { expect, test } from 'vitest'
import type { DataPoint, MetricSeries } from '../../api/metrics.ts'
import { groupKeys, hasIntervals, intervalLines } from './metric-intervals.ts'

const HOUR = 3_600_000
const range = { sinceMs: 0, untilMs: 24 * HOUR, groupBy: null }
const ns = (hours: number): string => String(BigInt(Math.round(hours * HOUR)) * 1_000_000n)

const counter = (points: readonly DataPoint[], more: Partial<MetricSeries> = {}): MetricSeries => ({
  ...{ service: 'shop', type: 'sum', unit: '1', attributes: [], truncated: false, points },
  ...{ aggregation_temporality: 2, is_monotonic: true },
  ...more,
})
const status = (value: string) => [{ key: 'status', value: { stringValue: value } }]
const metricWith = (...series: readonly MetricSeries[]) => ({ name: 'runs', truncated: false, series })

/** Returns the values of each line that are not zero, by their hour. */
const shown = (...parameters: Parameters<typeof intervalLines>) => {
  const { lines, times } = intervalLines(...parameters)
  return Object.fromEntries(
    lines.map(({ label, values }) => [
      label,
      Object.fromEntries(values.flatMap((value, at) => (value ? [[times[at]! / HOUR, value]] : []))),
    ]),
  )
}

test('counters of single runs are sums per interval over all series', () => {
  const run = (hour: number) => counter([{ startTimeUnixNano: ns(hour), timeUnixNano: ns(hour + 0.1), asInt: '1' }])
  const { intervalMs, times } = intervalLines(metricWith(run(1)), range)
  expect([intervalMs, times.length]).toEqual([HOUR, 24])
  expect(shown(metricWith(run(1), run(1.2), run(5)), range)).toEqual({ shop: { 1: 2, 5: 1 } })
})

test('a cumulative counter counts by its increase, also after it began again', () => {
  const at = (hour: number, value: number, start = -1) => ({
    ...{ startTimeUnixNano: ns(start), timeUnixNano: ns(hour), asDouble: value },
  })
  const series = counter([at(1, 100), at(2, 107), at(3, 107), at(4, 3, 3.5), at(5, 4, 3.5), at(6, 2, 3.5)])
  expect(shown(metricWith(series), range)).toEqual({ shop: { 2: 7, 4: 3, 5: 1, 6: 2 } })
  expect(shown(metricWith({ ...series, aggregation_temporality: 1, points: [at(1, 3), at(1.5, 4)] }), range)).toEqual({
    shop: { 1: 7 },
  })
})

test('series are grouped by their names, an attribute, or not at all if there are many', () => {
  const of = (value: string, hour: number) =>
    counter([{ startTimeUnixNano: ns(0), timeUnixNano: ns(hour), asInt: 1 }], { attributes: status(value) })
  const few = metricWith(of('success', 1), of('failed', 2), of('success', 3))
  expect(shown(few, range)).toEqual({ 'status=success': { 1: 1, 3: 1 }, 'status=failed': { 2: 1 } })
  const many = metricWith(...Array.from({ length: 9 }, (_, index) => of(String(index % 8), 1)))
  expect(shown(many, range)).toEqual({ 'all series': { 1: 9 } })
  const { lines, leftOut } = intervalLines(many, { ...range, groupBy: 'status' })
  expect([lines.length, lines[0]!.label, leftOut]).toEqual([6, 'status=0', 2])
  expect(groupKeys(many.series)).toEqual(['status'])
})

test('observations of histograms are merged, and their percentiles are within what was observed', () => {
  const histogram = (hour: number, seconds: number) =>
    counter(
      [
        {
          ...{
            startTimeUnixNano: ns(hour),
            timeUnixNano: ns(hour),
            count: 1,
            sum: seconds,
            min: seconds,
            max: seconds,
          },
          ...{ bucketCounts: [0, 1, 0], explicitBounds: [60, 300] },
        },
      ],
      { type: 'histogram', is_monotonic: null },
    )
  const metric = metricWith(histogram(1, 120), histogram(1.5, 110))
  expect(shown(metric, range)).toEqual({ 'p95 shop': { 1: 120 }, 'p50 shop': { 1: 120 } })
})

test('gauges and sums that can fall are drawn as they are', () => {
  expect(hasIntervals(metricWith(counter([])))).toBe(true)
  expect(hasIntervals(metricWith(counter([], { is_monotonic: false })))).toBe(false)
  expect(hasIntervals(metricWith(counter([], { type: 'gauge' })))).toBe(false)
})
