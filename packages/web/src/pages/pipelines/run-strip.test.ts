import { expect, test } from 'vitest'
import { runBars, runStrip, stripLabels } from './run-strip.ts'

const run = (startMs: number, seconds: number, status: string) => ({
  trace_id: 't',
  span_id: String(startMs),
  start_ns: `${startMs}000000`,
  duration_ns: `${seconds}000000000`,
  status,
})

test('places runs by start, and by the root of their duration', () => {
  const [long, short] = runStrip([run(1000, 400, 'success'), run(2000, 100, 'failed')], 1000, 2000)
  expect(long).toMatchObject({ x: 0, top: 2, height: 41, meaning: 'passed', hasCap: false })
  expect(short).toMatchObject({ x: 996, height: 20.5, meaning: 'failed', hasCap: true })
})

test('a run without a duration has a mark that can be seen', () => {
  expect(runStrip([run(1000, 0, 'skipped')], 1000, 2000)[0]).toMatchObject({ height: 3, meaning: 'skipped' })
})

test('days are labelled where they begin', () => {
  const since = new Date(2026, 0, 5, 15).getTime()
  const until = new Date(2026, 0, 12, 15).getTime()
  const labels = stripLabels(since, until)
  expect(labels.map(({ ms }) => [new Date(ms).getDate(), new Date(ms).getHours()])).toEqual(
    [6, 7, 8, 9, 10, 11, 12].flatMap((day) => (day === 12 ? [] : [[day, 0]])).concat([[12, 0]]),
  )
  for (const { at, ms } of labels) expect(since + at * (until - since)).toBeCloseTo(ms, 0)
})

test('long ranges have a label for some of their days, short ones for hours', () => {
  const at = (day: number, hour: number) => new Date(2026, 0, day, hour).getTime()
  expect(stripLabels(at(1, 0), at(31, 0)).map(({ ms }) => new Date(ms).getDate())).toEqual([
    1, 5, 9, 13, 17, 21, 25, 29,
  ])
  const hours = stripLabels(at(5, 9) + 60_000, at(5, 15)).map(({ ms }) => new Date(ms).getHours())
  expect(hours).toEqual([10, 11, 12, 13, 14])
})

test('a bar counts the runs of a part of the range, which may begin before the range', () => {
  const bucket = (fromMs: number, runs: number, failed: number) => ({
    ...{ start_ns: `${fromMs}000000`, end_ns: `${fromMs + 1000}000000`, runs, failed },
  })
  const bars = runBars([bucket(500, 10, 5), bucket(1500, 0, 0), bucket(2500, 1, 0), bucket(3500, 20, 1)], 1000, 5000)
  expect(bars).toEqual([
    { key: '500000000', x: 0, width: 123, top: 22.5, height: 20.5, failedHeight: 10.25 },
    { key: '2500000000', x: 375, width: 248, top: 40, height: 3, failedHeight: 0 },
    { key: '3500000000', x: 625, width: 248, top: 2, height: 41, failedHeight: expect.closeTo(2.05) },
  ])
})
