import type { Pipeline } from '@penstock/core'
import { z } from 'zod'
import type { Shape } from '../../routing/route.ts'

const counts = {
  total_time: z.number(),
  total_count: z.int(),
  success_count: z.int(),
  failed_count: z.int(),
  skipped_count: z.int(),
  error_count: z.int(),
}

/** The report of a pipeline without test results, which is the report of every recorded pipeline. */
export const testReportShape: Shape<Pipeline> = {
  schema: z.object({ ...counts, test_suites: z.array(z.never()) }).meta({ id: 'TestReport' }),
  of: () => ({
    total_time: 0,
    total_count: 0,
    success_count: 0,
    failed_count: 0,
    skipped_count: 0,
    error_count: 0,
    test_suites: [],
  }),
}

export const testReportSummaryShape: Shape<Pipeline> = {
  schema: z
    .object({
      total: z.object({
        time: z.number(),
        count: z.int(),
        success: z.int(),
        failed: z.int(),
        skipped: z.int(),
        error: z.int(),
        suite_error: z.null(),
      }),
      test_suites: z.array(z.never()),
    })
    .meta({ id: 'TestReportSummary' }),
  of: () => ({
    total: { time: 0, count: 0, success: 0, failed: 0, skipped: 0, error: 0, suite_error: null },
    test_suites: [],
  }),
}
