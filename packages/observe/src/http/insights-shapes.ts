import { z } from 'zod'
import { refKind, runJson } from './pipeline-routes.ts'
import { nanoseconds } from './query-route.ts'

const count = z.int()
const seconds = z.number()
const maybe = <Schema extends z.ZodType>(schema: Schema) => schema.nullable()
const text = z.string()
const traceId = z.string().meta({ description: 'A trace id' })

const statistics = {
  runs: count,
  success: count,
  failed: count,
  canceled: count,
  duration_p50: maybe(seconds),
  duration_p95: maybe(seconds),
  queue_p50: maybe(seconds),
  queue_p95: maybe(seconds),
  failure_rate: maybe(z.number()),
}
const jobName = { name: text, stage: maybe(text), project: maybe(text) }

const finding = z.object({
  rule: z.enum(['slower_yesterday', 'bad_day', 'slow_drift', 'longer_queue', 'flaky_job']),
  parts: z
    .array(
      z.union([
        z.object({ text }),
        z.object({ name: text, link: z.string().exactOptional().meta({ description: 'A path of the console' }) }),
        z.object({ seconds }),
        z.object({ ratio: z.number() }),
        z.object({ count }),
        z.object({ day_ns: nanoseconds }),
      ]),
    )
    .meta({ description: 'The pieces of a sentence' }),
  link: z.string().meta({ description: 'A path of the console' }),
})

/** The answer of `insights`. */
export const insightsShape = z.object({
  buckets: z.array(z.object({ start_ns: nanoseconds, end_ns: nanoseconds, ...statistics })),
  totals: z.object(statistics),
  previous: z.object(statistics).meta({ description: 'The range of the same length before' }),
  slowest_jobs: z.array(
    z.object({
      ...jobName,
      runs: count,
      critical_seconds: seconds,
      p50: maybe(seconds),
      p95: maybe(seconds),
      trend: z.array(maybe(seconds)).meta({ description: 'The median in each bucket' }),
      change_seconds: maybe(seconds),
    }),
  ),
  flaky_jobs: z.array(
    z.object({
      name: text,
      project: maybe(text),
      shas: count,
      shas_total: count,
      rate: z.number(),
      success: count,
      failed: count,
      failure_rate: maybe(z.number()),
      last_trace_id: traceId,
      last_results: z.array(text),
    }),
  ),
  failing_jobs: z.array(
    z.object({ ...jobName, success: count, failed: count, rate: maybe(z.number()), last_trace_id: traceId }),
  ),
  retries: z.array(z.object({ ...jobName, runs: count, retries: count, lost_seconds: seconds })),
  minutes: z.array(
    z.object({ by: z.enum(['project', 'runner', 'tag']), name: text, minutes: z.number(), jobs: count }),
  ),
  total_minutes: z.number().meta({ description: 'The minutes of all jobs, however many entries minutes has' }),
  findings: z.array(finding),
  truncated: z.boolean().meta({
    description:
      'Whether runs of the range, or of the time before it that it is compared with, may be missing, because too many jobs are stored',
  }),
})

const medianRun = z.object({
  kind: z.literal('median'),
  service: text,
  project: maybe(text),
  ref: maybe(text).meta({ description: 'The ref of a' }),
  ref_kind: refKind,
  name: maybe(text),
  trigger: maybe(text),
  trace_ids: z.array(traceId),
  runs: count,
  duration_seconds: maybe(seconds),
  queue_seconds: maybe(seconds),
})

/** The answer of `compare`. */
export const comparisonShape = z.object({
  a: runJson,
  b: z.union([runJson, medianRun]),
  base: z.enum(['a', 'b']).meta({ description: 'The side that changes are counted from' }),
  jobs: z.array(
    z.object({
      name: text,
      stage: maybe(text),
      a_seconds: maybe(seconds),
      b_seconds: maybe(seconds),
      delta_seconds: maybe(seconds),
      a_status: maybe(text),
      b_status: maybe(text),
      change: z.enum(['slower', 'faster', 'new', 'gone', 'failed', 'fixed', 'same']),
    }),
  ),
})
