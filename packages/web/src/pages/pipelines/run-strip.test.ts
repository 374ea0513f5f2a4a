import { expect, test } from 'vitest'
import { runStrip, stripTimes } from './run-strip.ts'

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

test('the axis begins and ends with the range', () => {
  expect(stripTimes(0, 100, 5)).toEqual([0, 25, 50, 75, 100])
})
