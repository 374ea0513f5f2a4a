import type { AnyValue, KeyValue, OtlpRequest } from '@penstock/otlp'

type Attributes = ReadonlyMap<string, AnyValue>

/** A finished pipeline, read from its span. */
export interface PipelineFact {
  readonly traceId: string
  readonly service: string
  readonly project: string
  readonly endMs: number
  readonly result: string | undefined
  /** Seconds; `undefined` if unknown. */
  readonly duration: number | undefined
  readonly queued: number | undefined
  readonly errorType: string | undefined
}

/** A run of a job, read from its log record. */
export interface JobFact {
  readonly project: string
  readonly name: string
  readonly status: string
  readonly result: string | undefined
  readonly duration: number | undefined
  readonly attempt: bigint | undefined
  readonly spanId: string
  readonly timeNs: bigint
}

/** Returns the pipelines of all traces. */
export function pipelinesOf(requests: readonly OtlpRequest<'traces'>[]): PipelineFact[] {
  return itemsOf(requests)
    .map(({ resource, item: span }) => ({ resource, span, own: mapOf(span.attributes) }))
    .filter(({ own }) => own.has('pipeline.status'))
    .map(({ resource, span, own }) => ({
      traceId: span.traceId,
      service: textOf(resource, 'service.name') ?? '',
      project: textOf(resource, 'vcs.repository.name') ?? '',
      endMs: Number(span.endTimeUnixNano / 1_000_000n),
      result: textOf(own, 'cicd.pipeline.result'),
      duration: numberOf(own, 'pipeline.duration'),
      queued: numberOf(own, 'pipeline.queued_duration'),
      errorType: textOf(own, 'error.type'),
    }))
}

/** Returns the jobs of all log records. */
export function jobsOf(requests: readonly OtlpRequest<'logs'>[]): JobFact[] {
  return itemsOf(requests)
    .map(({ resource, item: record }) => ({ resource, record, own: mapOf(record.attributes) }))
    .filter(({ own }) => own.has('job.status'))
    .map(({ resource, record, own }) => ({
      project: textOf(resource, 'vcs.repository.name') ?? '',
      name: textOf(own, 'job.name') ?? '',
      status: textOf(own, 'job.status')!,
      result: textOf(own, 'cicd.pipeline.task.run.result'),
      duration: numberOf(own, 'job.duration'),
      attempt: own.get('svc.cicd.pipeline.task.run.attempt')?.value as bigint | undefined,
      spanId: record.spanId,
      timeNs: record.timeUnixNano,
    }))
}

function itemsOf<S extends 'traces' | 'logs'>(requests: readonly OtlpRequest<S>[]) {
  return requests.flatMap(({ resources }) =>
    resources.flatMap(({ resource, scopes }) =>
      scopes.flatMap(({ items }) => items.map((item) => ({ resource: mapOf(resource.attributes), item }))),
    ),
  )
}

const mapOf = (attributes: readonly KeyValue[]): Attributes => new Map(attributes.map((each) => [each.key, each]))
const textOf = (attributes: Attributes, key: string): string | undefined =>
  attributes.get(key)?.value as string | undefined
const numberOf = (attributes: Attributes, key: string): number | undefined =>
  attributes.get(key)?.value as number | undefined
