import { type SeriesLabels, seriesKey, type Total } from './expected-totals.ts'
import { numberOf, type Sample } from './prometheus-text.ts'

/** Our metric names, by the names that the collector's Prometheus exporter gives them. */
const numbers: Readonly<Record<string, string>> = {
  pipeline_status_total: 'pipeline.status_total',
  cicd_pipeline_run_count_total: 'cicd.pipeline.run.count',
  cicd_pipeline_run_errors_total: 'cicd.pipeline.run.errors',
  pipeline_duration_seconds: 'pipeline.duration_seconds',
  pipeline_queue_duration_seconds: 'pipeline.queue_duration_seconds',
  svc_cicd_pipeline_run_queued_duration_seconds: 'svc.cicd.pipeline.run.queued_duration',
  pipeline_jobs_total: 'pipeline.jobs_total',
  cicd_pipeline_task_total: 'cicd.pipeline.task.total',
}
const histograms: Readonly<Record<string, string>> = {
  cicd_pipeline_run_duration_seconds: 'cicd.pipeline.run.duration',
  job_duration_seconds: 'job.duration_seconds',
  cicd_pipeline_task_duration_seconds: 'cicd.pipeline.task.duration',
}

/** Returns the metrics of a scraped page in the form of `expectedTotals`. */
export function totalsOfPage(samples: readonly Sample[]): Map<string, Total> {
  const totals = new Map<string, Total>()
  for (const { name, labels, value } of samples) {
    const metric = numbers[name]
    if (metric !== undefined) totals.set(seriesKey(labelsOf(metric, labels)), { value })
  }
  for (const [prefix, metric] of Object.entries(histograms)) {
    const series = new Map<string, Sample[]>()
    for (const sample of samples.filter(({ name }) => name.startsWith(`${prefix}_`))) {
      const key = seriesKey(labelsOf(metric, sample.labels))
      series.set(key, [...(series.get(key) ?? []), sample])
    }
    for (const [key, parts] of series) totals.set(key, histogramOf(prefix, parts))
  }
  return totals
}

function histogramOf(prefix: string, samples: readonly Sample[]): Total {
  const partOf = (suffix: string) => samples.filter(({ name }) => name === `${prefix}_${suffix}`)
  const cumulated = partOf('bucket')
    .toSorted((a, b) => numberOf(a.labels.le!) - numberOf(b.labels.le!))
    .map(({ value }) => value)
  return {
    count: partOf('count')[0]!.value,
    sum: partOf('sum')[0]!.value,
    buckets: cumulated.map((value, i) => value - (cumulated[i - 1] ?? 0)),
  }
}

function labelsOf(metric: string, labels: Sample['labels']): SeriesLabels {
  return {
    metric,
    // `service.name`, which is the project's name by default.
    project: labels.job!,
    status: labels.pipeline_status!,
    ref: labels.pipeline_ref!,
    source: labels.svc_cicd_pipeline_trigger_type!,
    stage: labels.job_stage,
    errorType: labels.error_type,
  }
}
