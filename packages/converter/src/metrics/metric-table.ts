import type { JobRecord } from '@penstock/forges/record'
import type { PointDimensions } from '../attributes/point-attributes.ts'
import {
  METRIC_CICD_PIPELINE_RUN_COUNT,
  METRIC_CICD_PIPELINE_RUN_DURATION,
  METRIC_CICD_PIPELINE_RUN_ERRORS,
  METRIC_CICD_PIPELINE_TASK_DURATION,
  METRIC_CICD_PIPELINE_TASK_TOTAL,
  METRIC_SVC_RUN_QUEUED_DURATION,
} from '../base/semconv.ts'
import { OTHER_ERROR } from '../base/status-maps.ts'
import { failedJobs, type PipelineRun } from '../run/run.ts'
import { ranSeconds } from '../run/span-times.ts'

/** One measured point of a run: seconds, or a count. `slowest` is the job that the exemplar refers to. */
export interface Measurement {
  readonly dimensions: PointDimensions
  /** One value for gauges and counters, all samples for histograms; never empty. */
  readonly samples: readonly number[]
  readonly slowest?: JobRecord
}

export type Measure = (run: PipelineRun) => readonly Measurement[]

export interface MetricRow {
  readonly name: string
  readonly description: string
  readonly unit: string
  /** `intGauge` and `counter` hold integer counts; the others hold seconds. */
  readonly instrument: 'gauge' | 'intGauge' | 'counter' | 'histogram'
  /** The metric is left out if this returns no measurement. Rows with the same measure share its points, so they need the same instrument. */
  readonly measure: Measure
  /**
   * Whether a later completion of the same pipeline sends the metric again. It is false for counts and durations of
   * runs, because one run would be counted twice.
   */
  readonly onReexport: boolean
  /** The fields of a pipeline hook that the metric is measured from; one of them is enough. */
  readonly needs?: readonly [string, ...string[]]
  /** The condition under which the metric is emitted. It is printed in `docs/reference/telemetry.md`. */
  readonly emitted: string
}

/** All metrics, in output order. A legacy name precedes the semconv name of the same measurement. */
export const metricTable: readonly MetricRow[] = [
  {
    name: 'pipeline.duration_seconds',
    description: 'Time the jobs of the pipeline were running.',
    unit: 's',
    instrument: 'gauge',
    measure: busyTime,
    onReexport: false,
    needs: ['object_attributes.duration'],
    emitted: 'the pipeline has a duration above 0',
  },
  {
    name: METRIC_CICD_PIPELINE_RUN_DURATION,
    description: 'Duration of a pipeline run.',
    unit: 's',
    instrument: 'histogram',
    measure: runDurations,
    onReexport: false,
    needs: ['object_attributes.duration'],
    emitted: 'the pipeline has a duration above 0',
  },
  {
    name: 'pipeline.status_total',
    description: 'Number of times pipelines reached a final status.',
    unit: '{status_change}',
    instrument: 'counter',
    measure: once,
    onReexport: true,
    emitted: 'always',
  },
  {
    name: METRIC_CICD_PIPELINE_RUN_COUNT,
    description: 'Number of pipeline runs.',
    unit: '{run}',
    instrument: 'counter',
    measure: once,
    onReexport: false,
    emitted: 'always',
  },
  {
    name: 'pipeline.jobs_total',
    description: 'Number of jobs and bridges of the pipeline.',
    unit: '{job}',
    instrument: 'intGauge',
    measure: jobCount,
    onReexport: false,
    emitted: 'always, unless the list of jobs is unreadable',
  },
  {
    name: METRIC_CICD_PIPELINE_TASK_TOTAL,
    description: 'Number of tasks of the pipeline run.',
    unit: '{job}',
    instrument: 'intGauge',
    measure: jobCount,
    onReexport: false,
    emitted: 'always, unless the list of jobs is unreadable',
  },
  {
    name: 'job.duration_seconds',
    description: 'Duration of the jobs of the pipeline, by stage.',
    unit: 's',
    instrument: 'histogram',
    measure: jobDurations,
    onReexport: true,
    needs: ['builds[].duration', 'builds[].started_at'],
    emitted: 'a job has run',
  },
  {
    name: METRIC_CICD_PIPELINE_TASK_DURATION,
    description: 'Duration of the tasks of the pipeline run, by stage.',
    unit: 's',
    instrument: 'histogram',
    measure: jobDurations,
    onReexport: true,
    needs: ['builds[].duration', 'builds[].started_at'],
    emitted: 'a job has run',
  },
  {
    name: 'pipeline.queue_duration_seconds',
    description: 'Time from the creation of the pipeline to the start of its first job.',
    unit: 's',
    instrument: 'gauge',
    measure: queueTime,
    onReexport: false,
    needs: ['object_attributes.queued_duration'],
    emitted: 'the pipeline was queued for more than 0 s',
  },
  {
    name: METRIC_SVC_RUN_QUEUED_DURATION,
    description: 'Time from the creation of the pipeline run to the start of its first task.',
    unit: 's',
    instrument: 'gauge',
    measure: queueTime,
    onReexport: false,
    needs: ['object_attributes.queued_duration'],
    emitted: 'the pipeline was queued for more than 0 s',
  },
  {
    name: METRIC_CICD_PIPELINE_RUN_ERRORS,
    description: 'Number of errors that failed the pipeline run, by kind.',
    unit: '{error}',
    instrument: 'counter',
    measure: runErrors,
    onReexport: false,
    emitted: 'the pipeline failed',
  },
]

function once(): readonly Measurement[] {
  return [{ dimensions: {}, samples: [1] }]
}

function busyTime({ record }: PipelineRun): readonly Measurement[] {
  return ifPositive(record.durationSeconds)
}

function queueTime({ record }: PipelineRun): readonly Measurement[] {
  return ifPositive(record.queuedSeconds)
}

function ifPositive(seconds: number | undefined, dimensions: PointDimensions = {}): Measurement[] {
  return seconds !== undefined && seconds > 0 ? [{ dimensions, samples: [seconds] }] : []
}

function runDurations({ record, errorType, options }: PipelineRun): Measurement[] {
  const ran = ifPositive(record.durationSeconds, { errorType })
  return options.pendingPoint ? [...ran, ...ifPositive(record.queuedSeconds, { state: 'pending' })] : ran
}

/** Returns the number of jobs. A job with several attempts counts once. */
function jobCount({ record }: PipelineRun): Measurement[] {
  if (record.jobsUnreadable || record.jobsUnknown) return []
  return [{ dimensions: {}, samples: [record.jobs.filter((job) => job.effective).length] }]
}

/**
 * Returns the durations of all attempts that ran, by stage: first the declared stages in order, then all other stages,
 * including jobs without a stage.
 */
function jobDurations(run: PipelineRun): Measurement[] {
  const { record } = run
  const byStage = new Map<string | undefined, { samples: number[]; slowest: JobRecord; slowestSeconds: number }>()
  for (const job of record.jobs) {
    const seconds = record.previousExport?.jobIds.has(job.id) ? undefined : ranSeconds(job)
    if (seconds === undefined) continue
    const known = byStage.get(job.stage)
    if (known === undefined) {
      byStage.set(job.stage, { samples: [seconds], slowest: job, slowestSeconds: seconds })
      continue
    }
    known.samples.push(seconds)
    if (seconds > known.slowestSeconds) Object.assign(known, { slowest: job, slowestSeconds: seconds })
  }
  const stages = new Set([...record.stages, ...byStage.keys()])
  return [...stages].flatMap((stage) => {
    const found = byStage.get(stage)
    return found === undefined ? [] : [{ dimensions: { stage }, samples: found.samples, slowest: found.slowest }]
  })
}

/**
 * Returns the errors of a failed pipeline: the number of failed jobs by reason or, if no job failed, one error with the
 * reason of the pipeline.
 */
function runErrors(run: PipelineRun): Measurement[] {
  if (run.record.status !== 'failed') return []
  const countByType = new Map<string, number>()
  for (const job of failedJobs(run.record)) {
    const errorType = job.failureReason ?? OTHER_ERROR
    countByType.set(errorType, (countByType.get(errorType) ?? 0) + 1)
  }
  if (countByType.size === 0) countByType.set(run.errorType ?? OTHER_ERROR, 1)
  return [...countByType].map(([errorType, count]) => ({ dimensions: { errorType }, samples: [count] }))
}
