export { type AttributeRow, caseAttributes, failureAttributes, suiteAttributes } from './attributes.ts'
export type { ReportPlace } from './ids.ts'
export {
  defaultTestReportLimits,
  type TestCase,
  type TestEntry,
  type TestReport,
  TestReportError,
  type TestReportLimits,
  type TestSuite,
} from './report.ts'
export { SCHEMA_URL } from './semconv.ts'
export { testMetrics, testMetricTable, type WrittenReport } from './test-metrics.ts'
export { TestReportReader } from './test-report-reader.ts'
export { type TestSpanOptions, testSpans } from './test-spans.ts'
