import { describe, expectTypeOf, test } from 'vitest'
import type { z } from 'zod'
import type { ApiKeyJson, CreatedApiKeyJson } from '../../packages/gateway/src/accounts/api-key-operations.ts'
import type { AuditEventJson } from '../../packages/gateway/src/accounts/audit-log.ts'
import type { VisibleReadinessReport } from '../../packages/gateway/src/admin/readiness-response.ts'
import type { sessionBody } from '../../packages/gateway/src/admin/session-routes.ts'
import type { StateJson } from '../../packages/gateway/src/enforcement/enforcement-operations.ts'
import type {
  CreatedTokenJson,
  ListedTokenJson,
  RotatedTokenJson,
} from '../../packages/gateway/src/tokens/token-json.ts'
import type { comparisonShape, insightsShape } from '../../packages/observe/src/http/insights-shapes.ts'
import type { facets, runJson } from '../../packages/observe/src/http/pipeline-routes.ts'
import type { StoredLogRecord } from '../../packages/observe/src/queries/log-queries.ts'
import type { MetricIntervals } from '../../packages/observe/src/queries/metric-intervals.ts'
import type { MetricName, StoredMetric } from '../../packages/observe/src/queries/metric-queries.ts'
import type { ServiceSummary } from '../../packages/observe/src/queries/service-queries.ts'
import type { TraceSummary } from '../../packages/observe/src/queries/trace-queries.ts'
import type * as compare from '../../packages/web/src/api/compare.ts'
import type * as insights from '../../packages/web/src/api/insights.ts'
import type * as logs from '../../packages/web/src/api/logs.ts'
import type * as management from '../../packages/web/src/api/management.ts'
import type * as metrics from '../../packages/web/src/api/metrics.ts'
import type * as pipelines from '../../packages/web/src/api/pipelines.ts'
import type * as traces from '../../packages/web/src/api/traces.ts'

// The console is a client like any other, so it has types of its own for the answers that it reads. These tests compare them with the types
// of the answers when `npm run check` compiles them: each answer has to have every field that the console reads, and may have more. Other
// tests compare the answers themselves with the OpenAPI description, which is made of the same types.

describe('the console reads answers of the management API', () => {
  test('tokens', () => {
    expectTypeOf<ListedTokenJson>().toExtend<management.IngestToken>()
    expectTypeOf<CreatedTokenJson>().toExtend<management.CreatedToken>()
    expectTypeOf<RotatedTokenJson>().toExtend<management.CreatedToken>()
  })

  test('enforcement', () => {
    expectTypeOf<StateJson>().toExtend<management.EnforcementState>()
    expectTypeOf<VisibleReadinessReport>().toExtend<management.Readiness>()
  })

  test('keys, sessions and the audit log', () => {
    expectTypeOf<ApiKeyJson>().toExtend<management.ApiKey>()
    expectTypeOf<CreatedApiKeyJson>().toExtend<management.CreatedApiKey>()
    expectTypeOf<z.output<typeof sessionBody>>().toExtend<management.Session>()
    expectTypeOf<AuditEventJson>().toExtend<management.AuditEvent>()
  })
})

describe('the console reads answers of the Observe API', () => {
  test('pipelines', () => {
    expectTypeOf<z.output<typeof runJson>>().toExtend<pipelines.PipelineRun>()
    expectTypeOf<z.output<typeof facets>>().toExtend<pipelines.Facets>()
    expectTypeOf<z.output<typeof insightsShape>>().toExtend<insights.Insights>()
    expectTypeOf<z.output<typeof comparisonShape>>().toExtend<compare.Comparison>()
  })

  test('traces, logs and metrics', () => {
    expectTypeOf<TraceSummary>().toExtend<traces.TraceSummary>()
    expectTypeOf<ServiceSummary>().toExtend<traces.ServiceSummary>()
    expectTypeOf<StoredLogRecord>().toExtend<logs.StoredLogRecord>()
    expectTypeOf<MetricName>().toExtend<metrics.MetricName>()
    expectTypeOf<MetricIntervals>().toExtend<metrics.MetricIntervals>()
    expectTypeOf<StoredMetric>().toExtend<metrics.StoredMetric>()
  })
})
