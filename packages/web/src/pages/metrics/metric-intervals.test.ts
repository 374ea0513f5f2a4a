import { expect, test } from 'vitest'
import type { MetricGroup, MetricIntervals, MetricSeries } from '../../api/metrics.ts'
import { hasIntervals, intervalLines, intervalSeconds } from './metric-intervals.ts'

const HOUR = 3_600_000
const range = { sinceMs: 0, untilMs: 24 * HOUR }

type Amounts = Readonly<Record<number, number>>

/** @param amounts by hour */
const group = (amounts: Amounts, more: Partial<MetricGroup> = {}): MetricGroup => ({
  ...{ service: 'shop', attributes: [], total: 0, ...more },
  intervals: Object.entries(amounts).map(([hour, amount]) => ({
    ...{ start_time_unix_nano: String(BigInt(Number(hour) * HOUR) * 1_000_000n), amount },
    ...{ p50: amount / 2, p95: amount },
  })),
})
const status = (value: string) => ({ attributes: [{ key: 'status', value }] })
const answer = (groups: readonly MetricGroup[], more: Partial<MetricIntervals> = {}): MetricIntervals => ({
  ...{
    name: 'runs',
    type: 'sum',
    interval_seconds: 3_600,
    group_keys: [],
    groups,
    groups_left_out: 0,
    truncated: false,
  },
  ...more,
})

/** Returns the values of each line that are not zero, by their hour. */
function shown(of: MetricIntervals, groupBy: string | null = null) {
  const { lines, times } = intervalLines(of, range, groupBy)
  return Object.fromEntries(
    lines.map(({ label, values }) => [
      label,
      Object.fromEntries(values.flatMap((value, at) => (value ? [[times[at]! / HOUR, value]] : []))),
    ]),
  )
}

test('the length of an interval follows from that of the range', () => {
  const lengths = [1, 6, 24, 7 * 24, 30 * 24].map((hours) => intervalSeconds({ sinceMs: 0, untilMs: hours * HOUR }))
  expect(lengths).toEqual([300, 900, 3_600, 21_600, 86_400])
})

test('counters have a sum in each interval of the range, 0 where nothing was counted', () => {
  const of = answer([group({ 1: 2, 5: 1 })])
  expect(intervalLines(of, range, null).lines[0]!.values).toHaveLength(24)
  expect(shown(of)).toEqual({ shop: { 1: 2, 5: 1 } })
})

test('groups are named by what tells them apart, or by the value of the attribute', () => {
  const groups = [group({ 1: 3 }, status('success')), group({ 2: 1 }, status('failed'))]
  expect(shown(answer(groups))).toEqual({ 'status=success': { 1: 3 }, 'status=failed': { 2: 1 } })
  const one = [group({ 1: 9 }, { service: null })]
  expect(shown(answer(one))).toEqual({ 'all series': { 1: 9 } })
  const byStatus = [group({ 1: 3 }, { service: null, ...status('success') }), group({ 2: 1 }, { service: null })]
  expect(shown(answer(byStatus), 'status')).toEqual({ 'status=success': { 1: 3 }, 'without status': { 2: 1 } })
})

test('histograms have p95 and p50 of three groups at most', () => {
  const groups = ['a', 'b', 'c', 'd'].map((value) => group({ 1: 4 }, status(value)))
  const of = answer(groups, { type: 'histogram', groups_left_out: 2 })
  const { lines, leftOut } = intervalLines(of, range, null)
  expect([lines.map(({ label }) => label), leftOut]).toEqual([
    ['p95 status=a', 'p50 status=a', 'p95 status=b', 'p50 status=b', 'p95 status=c', 'p50 status=c'],
    3,
  ])
  expect(shown(of)).toMatchObject({ 'p95 status=a': { 1: 4 }, 'p50 status=a': { 1: 2 } })
})

test('gauges and sums that can fall are drawn as they are', () => {
  const series = { type: 'sum', is_monotonic: true } as MetricSeries
  const metricWith = (more: Partial<MetricSeries>) => ({
    name: 'x',
    truncated: false,
    series: [{ ...series, ...more }],
  })
  expect(hasIntervals(metricWith({}))).toBe(true)
  expect(hasIntervals(metricWith({ is_monotonic: false }))).toBe(false)
  expect(hasIntervals(metricWith({ type: 'gauge' }))).toBe(false)
})
