import { expect, test } from 'vitest'
import type { MetricSeries } from '../../api/metrics.ts'
import { pointQuantile, pointRows, seriesNames, seriesText, toLines, valueText } from './metric-points.ts'

const series = (values: Partial<MetricSeries>): MetricSeries => ({
  ...{ service: 'shop', type: 'gauge', unit: 's', attributes: [], points: [], truncated: false },
  ...{ aggregation_temporality: null, is_monotonic: null },
  ...values,
})

test('quantiles are interpolated within a bucket', () => {
  const point = { bucketCounts: ['0', '10', '10', '0'], explicitBounds: [1, 2, 4] }
  expect([pointQuantile(point, 0.5), pointQuantile(point, 0.95), pointQuantile(point, 0.25)]).toEqual([2, 3.8, 1.5])
})

test('values beyond the last bound are counted as that bound; without values there is no quantile', () => {
  expect(pointQuantile({ bucketCounts: [0, 5], explicitBounds: [10] }, 0.95)).toBe(10)
  expect(pointQuantile({ bucketCounts: [0, 0], explicitBounds: [10] }, 0.95)).toBeNull()
  expect(pointQuantile({}, 0.95)).toBeNull()
})

test('quantiles are within the least and the greatest value', () => {
  const one = { bucketCounts: ['0', '1', '0'], explicitBounds: [60, 300], min: 120, max: 120 }
  expect([pointQuantile(one, 0.5), pointQuantile(one, 0.95)]).toEqual([120, 120])
  expect(pointQuantile({ bucketCounts: ['0', '5'], explicitBounds: [10], min: 40, max: 90 }, 0.95)).toBe(40)
})

test('rows are the points of all series, the latest first, with the traces of their exemplars', () => {
  const rows = pointRows({
    name: 'm',
    truncated: false,
    series: [
      series({ points: [{ timeUnixNano: '1000000000', asInt: '3', exemplars: [{ traceId: 'ab', spanId: 'cd' }] }] }),
      series({
        attributes: [{ key: 'route', value: { stringValue: '/' } }],
        points: [{ timeUnixNano: '2000000000', sum: 6, count: '3' }],
      }),
    ],
  })
  expect(rows.map(({ series, value, count }) => [series, value, count])).toEqual([
    ['route=/', 2, 3],
    ['shop', 3, null],
  ])
  expect(rows[1]?.traces).toEqual([{ traceId: 'ab', spanId: 'cd' }])
})

test('lines share their times', () => {
  const { times, lines } = toLines({
    name: 'm',
    truncated: false,
    series: [
      series({ points: [{ timeUnixNano: '1000000000', asDouble: 1 }] }),
      series({ service: 'b', points: [{ timeUnixNano: '2000000000', asDouble: 2 }] }),
    ],
  })
  expect(times).toEqual([1000, 2000])
  expect(lines.map(({ values }) => values)).toEqual([
    [1, null],
    [null, 2],
  ])
})

test('series with the same name are one line, and of many the ones with the most points are drawn', () => {
  const of = (route: string, ...seconds: number[]) =>
    series({
      attributes: [{ key: 'route', value: { stringValue: route } }],
      points: seconds.map((second) => ({ timeUnixNano: `${second}000000000`, asDouble: second })),
    })
  const { times, lines, leftOut } = toLines({
    name: 'm',
    truncated: false,
    series: [...['a', 'b', 'c', 'd', 'e', 'f'].map((route) => of(route, 1)), of('z', 2), of('z', 3)],
  })
  expect(times).toEqual([1000, 2000, 3000])
  expect(lines.map(({ label }) => label)).toEqual(['z', 'a', 'b', 'c', 'd', 'e'].map((route) => `route=${route}`))
  expect(lines[0]!.values).toEqual([null, 2, 3])
  expect(leftOut).toBe(1)
})

test('names of series have the service if there are several', () => {
  const attributes = [{ key: 'route', value: { stringValue: '/' } }]
  expect(seriesNames([series({ attributes }), series({ service: 'b', attributes }), series({ service: 'b' })])).toEqual(
    ['shop, route=/', 'b, route=/', 'b'],
  )
})

test('names of series have one of the attributes that distinguish the same series, and a sign where they are cut', () => {
  const of = (status: string, result: string, ref: string) =>
    series({
      attributes: Object.entries({ status, result, ref }).map(([key, stringValue]) => ({
        key,
        value: { stringValue },
      })),
    })
  const long = 'x'.repeat(200)
  expect(
    seriesNames([of('success', 'success', 'main'), of('failed', 'failure', 'main'), of('failed', 'failure', long)]),
  ).toEqual(['status=success, ref=main', 'status=failed, ref=main', `status=failed, ref=${'x'.repeat(80)}…`])
})

test.each([
  [1234.5, 's', '1,235 s'],
  [2_500_000, 'By', '2.5 MB'],
  [3, '{job}', '3 job'],
  [0.5, '1', '0.5'],
  [null, 's', '–'],
])('%s in %s is %s', (value, unit, text) => {
  expect(valueText(value, unit)).toBe(text)
})

test('numbers of series have separators', () => {
  expect([seriesText(1), seriesText(1204)]).toEqual(['1 series', '1,204 series'])
})
