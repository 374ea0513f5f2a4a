import { expectTypeOf, test } from 'vitest'
import type { StoredLogRecord } from '../../packages/observe/src/queries/log-queries.ts'
import type { MetricIntervals } from '../../packages/observe/src/queries/metric-intervals.ts'
import type { MetricName, StoredMetric } from '../../packages/observe/src/queries/metric-queries.ts'
import type { ServiceSummary } from '../../packages/observe/src/queries/service-queries.ts'
import type { TraceSummary } from '../../packages/observe/src/queries/trace-queries.ts'
import type * as logs from '../../packages/web/src/api/logs.ts'
import type * as metrics from '../../packages/web/src/api/metrics.ts'
import type * as traces from '../../packages/web/src/api/traces.ts'

// The types of most answers that the console reads are generated from the description of the API (packages/web/src/api/answers.ts). The
// description calls answers with parts in OTLP/JSON just objects, so the console has types of its own for these. This test compares them
// with the types of the answers when `npm run check` compiles it: each answer has to have every field that the console reads, and may have more.

test('the console reads answers with traces, logs and metrics', () => {
  expectTypeOf<TraceSummary>().toExtend<traces.TraceSummary>()
  expectTypeOf<ServiceSummary>().toExtend<traces.ServiceSummary>()
  expectTypeOf<StoredLogRecord>().toExtend<logs.StoredLogRecord>()
  expectTypeOf<MetricName>().toExtend<metrics.MetricName>()
  expectTypeOf<MetricIntervals>().toExtend<metrics.MetricIntervals>()
  expectTypeOf<StoredMetric>().toExtend<metrics.StoredMetric>()
})
