import type {
  ChunkHeader,
  ChunkLimits,
  EncodedChunk,
  ItemOf,
  LogRecord,
  OtlpRequest,
  RequestEncoder,
  Resource,
  Signal,
  Span,
} from '@penstock/otlp'
import { attributesFrom, vendorKey } from './attribute-table.ts'
import { jobLogRecord, pipelineLogRecord } from './logs/log-records.ts'
import { metricParts, metricsOf } from './metrics/data-points.ts'
import { type ConvertOptions, resolveOptions } from './options.ts'
import { planOf } from './plan.ts'
import type { PipelineRecord } from './record.ts'
import { jobRun, type PipelineRun, pipelineRun, traceId } from './run.ts'
import { ATTR_SVC_TRACE_ID, SCHEMA_URL } from './semconv.ts'
import type { Tally } from './text.ts'
import { jobSpan, pipelineSpan, stageSpans } from './traces/spans.ts'
import { PRODUCT_VERSION } from './version.ts'

/** Three requests, each complete in itself; signals are delivered, and fail, independently. */
export interface Conversion {
  readonly traces: OtlpRequest<'traces'>
  readonly metrics: OtlpRequest<'metrics'>
  readonly logs: OtlpRequest<'logs'>
  /** What had to be changed on the way. */
  readonly tally: Tally
}

const defaultOptions = resolveOptions()

/**
 * One finished pipeline as OTLP traces, metrics and logs.
 *
 * Pure: the same record and options give the same output, on every machine. Metrics are `per-run` points; `accumulate`
 * makes the other modes of them. Whether a record should be converted at all is `exportDecision`'s to say.
 *
 * @param options from `resolveOptions`; keep the object, what follows from it is worked out once
 * @throws {RecordError} when neither the record nor its receipt has any time
 * @see spec/interface-1.md 2.2 to 2.4, spec/pipeline-telemetry.md 3 to 5
 */
export function convert(record: PipelineRecord, options: ConvertOptions = defaultOptions): Conversion {
  const run = pipelineRun(record, planOf(options))
  const spans: Span[] = []
  const logRecords: LogRecord[] = []
  for (const { span, logRecord } of parts(run)) {
    spans.push(span)
    if (logRecord !== undefined) logRecords.push(logRecord)
  }
  const headers = headersOf(run)
  return {
    traces: request(headers.traces, spans),
    metrics: request(headers.metrics, metricsOf(run)),
    logs: request(headers.logs, logRecords),
    tally: run.tally,
  }
}

/** Of the spans of `convert`, without making them. */
export function traceIdOf(record: PipelineRecord, options: ConvertOptions = defaultOptions): string {
  return traceId(record, planOf(options))
}

/** The metrics of `convert` alone, for callers that accumulate them. */
export function convertMetrics(
  record: PipelineRecord,
  options: ConvertOptions = defaultOptions,
): OtlpRequest<'metrics'> {
  const run = pipelineRun(record, planOf(options))
  return request(headersOf(run).metrics, metricsOf(run))
}

export interface ChunkOptions {
  readonly signals: readonly Signal[]
  readonly encoder: RequestEncoder
  readonly limits: ChunkLimits
}

/**
 * The same conversion as encoded requests of bounded size, one job at a time: memory and time between two chunks do not
 * grow with the pipeline. Chunks of different signals alternate; those of one signal come in order.
 *
 * @returns the tally, once everything has been yielded
 * @throws {RecordError} as `convert`
 */
export function* convertChunks(
  record: PipelineRecord,
  options: ConvertOptions,
  { signals, encoder, limits }: ChunkOptions,
): Generator<EncodedChunk, Tally> {
  const run = pipelineRun(record, planOf(options))
  const headers = headersOf(run)
  const writerOf = <S extends Signal>(signal: S) =>
    signals.includes(signal) ? encoder.chunks(signal, headers[signal], limits) : undefined
  const traces = writerOf('traces')
  const logs = writerOf('logs')
  if (traces !== undefined || logs !== undefined) {
    for (const { span, logRecord } of parts(run)) {
      const spanChunk = traces?.add(span)
      if (spanChunk !== undefined) yield spanChunk
      const logChunk = logRecord && logs?.add(logRecord)
      if (logChunk !== undefined) yield logChunk
    }
  }
  const metrics = writerOf('metrics')
  for (const metric of metrics === undefined ? [] : metricsOf(run)) {
    for (const part of metricParts(metric, limits.maxItems)) {
      const chunk = metrics?.add(part)
      if (chunk !== undefined) yield chunk
    }
  }
  for (const writer of [traces, metrics, logs]) {
    const rest = writer?.end()
    if (rest !== undefined) yield rest
  }
  return run.tally
}

interface Part {
  readonly span: Span
  /** Stage spans have none. */
  readonly logRecord: LogRecord | undefined
}

/** Spans and log records in output order: pipeline, stages, jobs. A log record shares its span's attribute objects. */
function* parts(run: PipelineRun): Generator<Part> {
  const { plan, tally } = run
  const attributes = attributesFrom(plan.pipelineAttributes, run, tally)
  yield { span: pipelineSpan(run, attributes), logRecord: pipelineLogRecord(run, attributes) }
  for (const span of stageSpans(run)) yield { span, logRecord: undefined }
  for (const job of run.exportedJobs) {
    const task = jobRun(job, run)
    const jobAttributes = attributesFrom(plan.jobAttributes, task, tally)
    yield { span: jobSpan(task, jobAttributes), logRecord: jobLogRecord(task, jobAttributes) }
  }
}

/** Resource and scope of each signal. Metrics of single runs name their trace on the resource. */
function headersOf(run: PipelineRun): Record<Signal, ChunkHeader> {
  const { plan, options, tally } = run
  const resource: Resource = {
    attributes: attributesFrom(plan.resourceAttributes, run, tally),
    droppedAttributesCount: 0,
  }
  const traceIdKey = vendorKey(ATTR_SVC_TRACE_ID, options.vendorNamespace)
  const metricResource: Resource =
    options.metricsMode === 'per-run'
      ? { ...resource, attributes: [...resource.attributes, { key: traceIdKey, type: 'string', value: run.traceId }] }
      : resource
  const header = (of: Resource, scopeName: string): ChunkHeader => ({
    resource: of,
    scope: {
      name: `${options.vendorNamespace}-ci-${scopeName}`,
      version: PRODUCT_VERSION,
      attributes: [],
      droppedAttributesCount: 0,
    },
    resourceSchemaUrl: SCHEMA_URL,
    scopeSchemaUrl: SCHEMA_URL,
  })
  return {
    traces: header(resource, 'pipeline'),
    metrics: header(metricResource, 'metrics'),
    logs: header(resource, 'logs'),
  }
}

function request<S extends Signal>(header: ChunkHeader, items: readonly ItemOf[S][]): OtlpRequest<S> {
  const { resource, scope, resourceSchemaUrl, scopeSchemaUrl } = header
  return {
    resources: [{ resource, scopes: [{ scope, items, schemaUrl: scopeSchemaUrl }], schemaUrl: resourceSchemaUrl }],
  }
}
