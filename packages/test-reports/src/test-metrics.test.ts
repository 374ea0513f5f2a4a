import { expect, test } from 'vitest'
import { readText } from './reading.harness.ts'
import { testMetrics } from './test-metrics.ts'

const metrics = (text: string) => testMetrics([{ report: readText(text), writtenNs: 60_000_000_000n }], 'svc')

const points = (text: string) =>
  metrics(text).map(({ name, data }) => [
    name,
    ...(data?.type === 'sum' ? data.dataPoints : []).map(({ attributes, value }) => [
      ...attributes.map((each) => each.value),
      value?.value,
    ]),
  ])

test('cases are counted by suite and result, attempts once', () => {
  const text = `<testsuites>
    <testsuite name="s"><testcase name="a" time="1"><failure/></testcase><testcase name="a" time="2"/>
      <testsuite name="t"><testcase name="b" time="4"><skipped/></testcase></testsuite></testsuite>
    <testsuite name="s"><testcase name="c"/><testcase name="d"><error/></testcase></testsuite></testsuites>`
  expect(points(text)).toEqual([
    ['svc.test.suite.duration', ['s', 3], ['t', 4]],
    ['svc.test.case.count', ['s', 'passed', 2n], ['s', 'error', 1n], ['t', 'skipped', 1n]],
  ])
})

test('the points cover the time of the report', () => {
  const [metric] = metrics('<testsuite name="s"><testcase time="5"/></testsuite>')
  const times = { startTimeUnixNano: 55_000_000_000n, timeUnixNano: 60_000_000_000n }
  expect(metric!.data).toMatchObject({ dataPoints: [times], aggregationTemporality: 1, isMonotonic: true })
})

test('suites beyond the limit share one stream', () => {
  const suites = Array.from({ length: 250 }, (_, at) => `<testsuite name="${at}"><testcase time="1"/></testsuite>`)
  const [[, ...durations] = [], [, ...counts] = []] = points(`<testsuites>${suites.join('')}</testsuites>`)
  expect(durations).toHaveLength(201)
  expect(durations.at(-1)).toEqual([true, 50])
  expect(counts.at(-1)).toEqual([true, 'passed', 50n])
})

test('a report without cases has no metrics', () => {
  expect(metrics('<testsuites/>')).toEqual([])
  expect(metrics('<testsuite name="s"/>')).toEqual([])
})
