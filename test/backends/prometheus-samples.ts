import type {
  AnyValue,
  HistogramDataPoint,
  KeyValue,
  Metric,
  NumberDataPoint,
  OtlpRequest,
  Resource,
} from '@penstock/otlp'
import type { Labels } from './prometheus.ts'

/** The name of each metric in Prometheus. Histograms have series with the suffixes `_bucket`, `_count` and `_sum`. */
export const prometheusNames: Readonly<Record<string, string>> = {
  'pipeline.duration_seconds': 'pipeline_duration_seconds',
  'cicd.pipeline.run.duration': 'cicd_pipeline_run_duration_seconds',
  'pipeline.status_total': 'pipeline_status_total',
  'cicd.pipeline.run.count': 'cicd_pipeline_run_count_total',
  'pipeline.jobs_total': 'pipeline_jobs_total',
  'cicd.pipeline.task.total': 'cicd_pipeline_task_total',
  'job.duration_seconds': 'job_duration_seconds',
  'cicd.pipeline.task.duration': 'cicd_pipeline_task_duration_seconds',
  'pipeline.queue_duration_seconds': 'pipeline_queue_duration_seconds',
  'svc.cicd.pipeline.run.queued_duration': 'svc_cicd_pipeline_run_queued_duration_seconds',
  'cicd.pipeline.run.errors': 'cicd_pipeline_run_errors_total',
}

/** The resource attributes that collector-config/prometheus-server.yaml makes labels. */
export const promotedAttributes: readonly string[] = [
  'svc.cicd.pipeline.trace_id',
  'vcs.owner.name',
  'vcs.repository.name',
  'vcs.repository.url.full',
  'svc.vcs.repository.id',
  'deployment.environment.name',
]

export interface PrometheusSample {
  readonly labels: Labels
  readonly ms: number
  readonly value: number
}

/** Returns the samples that Prometheus should store of a request, without those of `target_info`. */
export function samplesOf({ resources }: OtlpRequest<'metrics'>): PrometheusSample[] {
  return resources.flatMap(({ resource, scopes }) =>
    scopes.flatMap(({ items }) => items.flatMap((metric) => samplesOfMetric(resource, metric))),
  )
}

/** An exemplar of a series. Prometheus stores none of gauges. */
export interface PrometheusExemplar {
  readonly labels: Labels
  readonly traceId: string
  readonly spanId: string
  readonly ms: number
  readonly value: number
}

/** Returns the exemplars that Prometheus should store of a request. That of a histogram belongs to the bucket of its value. */
export function exemplarsOf({ resources }: OtlpRequest<'metrics'>): PrometheusExemplar[] {
  return resources.flatMap(({ resource, scopes }) =>
    scopes.flatMap(({ items }) => items.flatMap((metric) => exemplarsOfMetric(resource, metric))),
  )
}

/** Returns the labels of `target_info` for each resource of a request. */
export const targetsOf = ({ resources }: OtlpRequest<'metrics'>): Labels[] =>
  resources.map(({ resource: { attributes } }) => {
    const service = attributes.find(({ key }) => key === 'service.name')!
    const others = attributes.filter((each) => each !== service)
    return {
      ...Object.fromEntries(others.map((each) => [labelName(each.key), textOf(each)])),
      __name__: 'target_info',
      job: textOf(service),
    }
  })

/** Returns a text that is the same for the same labels. */
export const seriesKey = (labels: Labels): string =>
  JSON.stringify(Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1)))

function samplesOfMetric(resource: Resource, { name, data }: Metric): PrometheusSample[] {
  const translated = prometheusNames[name]
  if (translated === undefined || data === undefined) throw new Error(`a metric ${name}`)
  const points = data.dataPoints as readonly (NumberDataPoint | HistogramDataPoint)[]
  return points.flatMap((point) => {
    const ms = Number(point.timeUnixNano / 1_000_000n)
    const sample = (suffix: string, value: number, more: Labels = {}): PrometheusSample => ({
      labels: { ...labelsOf(resource, point.attributes), ...more, __name__: translated + suffix },
      ms,
      value,
    })
    if ('value' in point) return [sample('', Number(point.value?.value))]
    let upTo = 0n
    const buckets = point.explicitBounds.map((bound, i) => {
      upTo += point.bucketCounts[i]!
      return sample('_bucket', Number(upTo), { le: String(bound) })
    })
    return [
      ...buckets,
      sample('_bucket', Number(point.count), { le: '+Inf' }),
      sample('_count', Number(point.count)),
      sample('_sum', point.sum!),
    ]
  })
}

function exemplarsOfMetric(resource: Resource, { name, data }: Metric): PrometheusExemplar[] {
  if (data === undefined || data.type === 'gauge') return []
  const points = data.dataPoints as readonly (NumberDataPoint | HistogramDataPoint)[]
  return points.flatMap((point) =>
    point.exemplars.map(({ traceId, spanId, timeUnixNano, value: measured }) => {
      const value = Number(measured?.value)
      const bucket = 'explicitBounds' in point ? { le: bucketOf(value, point) } : {}
      const suffix = 'explicitBounds' in point ? '_bucket' : ''
      return {
        labels: { ...labelsOf(resource, point.attributes), ...bucket, __name__: prometheusNames[name] + suffix },
        traceId,
        spanId,
        ms: Number(timeUnixNano / 1_000_000n),
        value,
      }
    }),
  )
}

function bucketOf(value: number, { explicitBounds }: HistogramDataPoint): string {
  const bound = explicitBounds.find((each) => value <= each)
  return bound === undefined ? '+Inf' : String(bound)
}

function labelsOf({ attributes }: Resource, pointAttributes: readonly KeyValue[]): Labels {
  const promoted = attributes.filter(({ key }) => promotedAttributes.includes(key))
  const service = attributes.find(({ key }) => key === 'service.name')!
  return {
    ...Object.fromEntries([...promoted, ...pointAttributes].map((each) => [labelName(each.key), textOf(each)])),
    job: textOf(service),
  }
}

const labelName = (key: string): string => key.replaceAll(/[^a-zA-Z0-9_]/g, '_')

/** Returns the text of a value. The attributes of points and the promoted ones are texts. */
function textOf(value: AnyValue): string {
  if (value.type !== 'string') throw new Error(`a label of type ${value.type}`)
  return value.value
}
