import type { GeneratedPipeline } from './generated-pipelines.ts'

/** The labels that identify a series. */
export interface SeriesLabels {
  readonly metric: string
  readonly project: string
  readonly status: string
  readonly ref: string
  readonly source: string
  readonly stage?: string | undefined
  readonly errorType?: string | undefined
}

/** The total of a counter or gauge, or of a histogram. */
export type Total =
  | { readonly value: number }
  | {
      readonly count: number
      readonly sum: number
      /** The samples of each bucket by itself; the last bucket is beyond all bounds. */
      readonly buckets: readonly number[]
    }

export type Totals = ReadonlyMap<string, Total>

export function seriesKey({ metric, project, status, ref, source, stage, errorType }: SeriesLabels): string {
  return [metric, project, status, ref, source, stage ?? '-', errorType ?? '-'].join(' ')
}

/** The documented inclusive upper bounds of the buckets, in seconds. */
const bounds = [1, 5, 10, 30, 60, 300, 600, 1800, 3600]

/**
 * Returns the expected totals of counters and histograms over these pipelines, and the values of gauges after the last one,
 * computed from the generated pipelines.
 */
export function expectedTotals(pipelines: readonly GeneratedPipeline[]): Totals {
  const totals = new Map<string, Total>()
  for (const { project, status, ref, source, durationSeconds, queuedSeconds, jobs } of pipelines) {
    const labels = { project, status, ref, source }
    const failed = jobs.filter((job) => job.status === 'failed').toSorted((a, b) => endOf(a) - endOf(b) || a.id - b.id)
    const errorType = failed[0]?.failureReason ?? undefined
    const gauges = {
      'pipeline.duration_seconds': durationSeconds,
      'pipeline.queue_duration_seconds': queuedSeconds,
      'svc.cicd.pipeline.run.queued_duration': queuedSeconds,
      'pipeline.jobs_total': jobs.length,
      'cicd.pipeline.task.total': jobs.length,
    }
    for (const [metric, value] of Object.entries(gauges)) totals.set(seriesKey({ ...labels, metric }), { value })
    for (const metric of ['pipeline.status_total', 'cicd.pipeline.run.count']) addOne(totals, { ...labels, metric })
    addSample(totals, { ...labels, metric: 'cicd.pipeline.run.duration', errorType }, durationSeconds)
    for (const { stage, durationSeconds: sample } of jobs) {
      for (const metric of ['job.duration_seconds', 'cicd.pipeline.task.duration']) {
        addSample(totals, { ...labels, metric, stage }, sample)
      }
    }
    for (const { failureReason } of failed) {
      addOne(totals, { ...labels, metric: 'cicd.pipeline.run.errors', errorType: failureReason ?? undefined })
    }
  }
  return totals
}

const endOf = (job: { startedAt: number; durationSeconds: number }): number => job.startedAt + job.durationSeconds

function addOne(totals: Map<string, Total>, labels: SeriesLabels): void {
  const key = seriesKey(labels)
  const known = totals.get(key)
  totals.set(key, { value: known !== undefined && 'value' in known ? known.value + 1 : 1 })
}

const empty = { count: 0, sum: 0, buckets: new Array<number>(bounds.length + 1).fill(0) }

function addSample(totals: Map<string, Total>, labels: SeriesLabels, sample: number): void {
  const key = seriesKey(labels)
  const known = totals.get(key)
  const { count, sum, buckets } = known !== undefined && 'buckets' in known ? known : empty
  const found = bounds.findIndex((bound) => sample <= bound)
  const bucket = found === -1 ? bounds.length : found
  totals.set(key, { count: count + 1, sum: sum + sample, buckets: buckets.with(bucket, buckets[bucket]! + 1) })
}
