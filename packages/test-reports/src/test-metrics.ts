import { AggregationTemporality, type KeyValue, type Metric, type NumberDataPoint } from '@penstock/otlp'
import { namespaced } from './attributes.ts'
import type { TestEntry, TestReport, TestResult, TestSuite } from './report.ts'
import { schedule } from './schedule.ts'
import {
  ATTR_OTEL_METRIC_OVERFLOW,
  ATTR_SVC_TEST_CASE_RESULT,
  ATTR_TEST_SUITE_NAME,
  METRIC_SVC_TEST_CASE_COUNT,
  METRIC_SVC_TEST_SUITE_DURATION,
} from './semconv.ts'

/** The number of suites with streams of their own. All other suites share one, with the attribute `otel.metric.overflow`. */
export const MAX_SUITE_STREAMS = 200

/** The metrics, with their attributes, for the documentation. */
export const testMetricTable = [
  {
    name: METRIC_SVC_TEST_SUITE_DURATION,
    unit: 's',
    description: 'Time that the cases of a test suite took.',
    attributes: [ATTR_TEST_SUITE_NAME],
  },
  {
    name: METRIC_SVC_TEST_CASE_COUNT,
    unit: '{case}',
    description: 'Test cases of a suite, by the result of their last attempt.',
    attributes: [ATTR_TEST_SUITE_NAME, ATTR_SVC_TEST_CASE_RESULT],
  },
] as const

/** A report with the time at which it was written. */
export interface WrittenReport {
  readonly report: TestReport
  readonly writtenNs: bigint
}

/** The sums of the suites with one name; `suite` is `undefined` for the stream of all suites beyond the limit. */
interface SuiteTotals {
  readonly suite: string | undefined
  durationNs: bigint
  readonly counts: Map<TestResult, bigint>
}

/** Returns the metrics of reports as delta sums from the start of the first suite to the end of the last one. */
export function testMetrics(reports: readonly WrittenReport[], vendorNamespace: string): Metric[] {
  const totals = new Map<string | undefined, SuiteTotals>()
  let startNs: bigint | undefined
  let endNs = 0n
  for (const { report, writtenNs } of reports) {
    for (const times of schedule(report, writtenNs).values()) {
      if (startNs === undefined || times.startNs < startNs) startNs = times.startNs
      if (times.endNs > endNs) endNs = times.endNs
    }
    for (const suite of suitesIn(report.entries)) addSuite(totals, suite)
  }
  if (startNs === undefined || totals.size === 0) return []
  const times = { startTimeUnixNano: startNs, timeUnixNano: endNs }
  const durations = [...totals.values()].map(({ suite, durationNs }) =>
    point(times, suiteAttributes(suite), { type: 'double', value: Number(durationNs) / 1e9 }),
  )
  const counts = [...totals.values()].flatMap(({ suite, counts }) =>
    [...counts].map(([result, value]) => {
      const key = namespaced(ATTR_SVC_TEST_CASE_RESULT, vendorNamespace)
      return point(times, [...suiteAttributes(suite), { key, type: 'string', value: result }], { type: 'int', value })
    }),
  )
  return [durations, counts].flatMap((dataPoints, index) => {
    const { name, unit, description } = testMetricTable[index]!
    return dataPoints.length === 0 ? [] : [sum(namespaced(name, vendorNamespace), unit, description, dataPoints)]
  })
}

function* suitesIn(entries: readonly TestEntry[]): Generator<TestSuite> {
  for (const entry of entries) {
    if (entry.kind !== 'suite') continue
    yield entry
    yield* suitesIn(entry.entries)
  }
}

/** Adds the cases directly in the suite, so that those of a suite below it are counted once. */
function addSuite(all: Map<string | undefined, SuiteTotals>, { name, entries }: TestSuite): void {
  const cases = entries.filter((entry) => entry.kind === 'case')
  if (cases.length === 0) return
  const suite = all.has(name) || all.size < MAX_SUITE_STREAMS ? name : undefined
  const totals = all.get(suite) ?? { suite, durationNs: 0n, counts: new Map() }
  all.set(suite, totals)
  for (const { durationNs, isRepeated, result } of cases) {
    totals.durationNs += durationNs
    if (!isRepeated) totals.counts.set(result, (totals.counts.get(result) ?? 0n) + 1n)
  }
}

const suiteAttributes = (suite: string | undefined): KeyValue[] =>
  suite === undefined
    ? [{ key: ATTR_OTEL_METRIC_OVERFLOW, type: 'bool', value: true }]
    : [{ key: ATTR_TEST_SUITE_NAME, type: 'string', value: suite }]

const point = (
  times: Pick<NumberDataPoint, 'startTimeUnixNano' | 'timeUnixNano'>,
  attributes: readonly KeyValue[],
  value: NumberDataPoint['value'],
): NumberDataPoint => ({ ...times, attributes, value, exemplars: [], flags: 0 })

const sum = (name: string, unit: string, description: string, dataPoints: readonly NumberDataPoint[]): Metric => ({
  name,
  unit,
  description,
  data: { type: 'sum', dataPoints, aggregationTemporality: AggregationTemporality.DELTA, isMonotonic: true },
  metadata: [],
})
