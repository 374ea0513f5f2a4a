import type { PipelineRecord } from '@penstock/forges/record'
import type {
  ChunkHeader,
  ChunkLimits,
  EncodedChunk,
  InstrumentationScope,
  ItemBySignal,
  LogRecord,
  OtlpRequest,
  RequestEncoder,
  Resource,
  Signal,
  Span,
} from '@penstock/otlp'
import { createPlan, type PlannedRun } from './attributes/plan.ts'
import { attributesFrom, vendorKey } from './base/attribute-table.ts'
import { type ConvertOptions, resolveOptions } from './base/options.ts'
import { ATTR_SVC_TRACE_ID, SCHEMA_URL } from './base/semconv.ts'
import type { Tally } from './base/text.ts'
import { failureLogRecord, jobLogRecord, pipelineLogRecord } from './logs/log-records.ts'
import { metricParts, toMetrics } from './metrics/data-points.ts'
import { jobRun, pipelineRun, traceId } from './run/run.ts'
import { stepRuns } from './run/steps.ts'
import { jobSpan, pipelineSpan, stageSpans, stepSpan } from './traces/spans.ts'

/** One complete request per signal. The signals are delivered independently, so one can fail while the others succeed. */
export interface Conversion {
  readonly traces: OtlpRequest<'traces'>
  readonly metrics: OtlpRequest<'metrics'>
  readonly logs: OtlpRequest<'logs'>
  /** The number of values that the conversion had to change. */
  readonly tally: Tally
}

const defaultOptions = resolveOptions()

/**
 * Returns one finished pipeline as OTLP traces, metrics and logs.
 *
 * The function is pure: the same record and options give the same output on every machine. Metrics are `per-run` points;
 * `accumulate` turns them into the other modes. `exportDecision` decides whether a record should be converted at all.
 *
 * @param options from `resolveOptions`. Pass the same object every time: the plan derived from it is cached per object.
 * @throws {RecordError} if the record has no time and no receipt time
 */
export function convert(record: PipelineRecord, options: ConvertOptions = defaultOptions): Conversion {
  const run = pipelineRun(record, createPlan(options))
  const spans: Span[] = []
  const logRecords: LogRecord[] = []
  for (const part of parts(run)) {
    spans.push(part.span)
    logRecords.push(...part.logRecords)
  }
  const headers = headersOf(run)
  return {
    traces: request(headers.traces, spans),
    metrics: request(headers.metrics, toMetrics(run)),
    logs: request(headers.logs, logRecords),
    tally: run.tally,
  }
}

/** Returns the trace id that the spans of `convert` have, without building the spans. */
export function getTraceId(record: PipelineRecord, options: ConvertOptions = defaultOptions): string {
  return traceId(record, createPlan(options))
}

/** Returns only the metrics of `convert`, for callers that accumulate them. */
export function convertMetrics(
  record: PipelineRecord,
  options: ConvertOptions = defaultOptions,
): OtlpRequest<'metrics'> {
  const run = pipelineRun(record, createPlan(options))
  return request(headersOf(run).metrics, toMetrics(run))
}

interface ChunkOptions {
  readonly signals: readonly Signal[]
  readonly encoder: RequestEncoder
  readonly limits: ChunkLimits
}

/**
 * Converts a record job by job and yields encoded requests of bounded size, so that memory and time between two chunks
 * do not grow with the pipeline. Chunks of different signals alternate; the chunks of one signal come in order.
 *
 * @returns the tally, after the last chunk
 * @throws {RecordError} if the record has no time and no receipt time
 */
export function* convertChunks(
  record: PipelineRecord,
  options: ConvertOptions,
  { signals, encoder, limits }: ChunkOptions,
): Generator<EncodedChunk, Tally> {
  const run = pipelineRun(record, createPlan(options))
  const headers = headersOf(run)
  const writerOf = <S extends Signal>(signal: S) =>
    signals.includes(signal) ? encoder.chunks(signal, headers[signal], limits) : undefined
  const traces = writerOf('traces')
  const logs = writerOf('logs')
  if (traces !== undefined || logs !== undefined) {
    for (const part of parts(run)) {
      const spanChunk = traces?.add(part.span)
      if (spanChunk !== undefined) yield spanChunk
      for (const logRecord of part.logRecords) {
        const logChunk = logs?.add(logRecord)
        if (logChunk !== undefined) yield logChunk
      }
    }
  }
  const metrics = writerOf('metrics')
  for (const metric of metrics === undefined ? [] : toMetrics(run)) {
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
  /** Empty for the spans of stages and steps. */
  readonly logRecords: readonly LogRecord[]
}

const noLogRecords: readonly LogRecord[] = []

/** Yields spans and log records in output order: pipeline, stages, jobs, each with its steps. A log record shares its span's attribute objects. */
function* parts(run: PlannedRun): Generator<Part> {
  const { plan, tally } = run
  if (!run.record.previousExport?.onlyJobs) {
    const attributes = attributesFrom(plan.pipelineAttributes, run, tally)
    yield { span: pipelineSpan(run, attributes), logRecords: [pipelineLogRecord(run, attributes)] }
    for (const span of stageSpans(run)) yield { span, logRecords: noLogRecords }
  }
  for (const job of run.exportedJobs) {
    const task = jobRun(job, run)
    const jobAttributes = attributesFrom(plan.jobAttributes, task, tally)
    const failure = failureLogRecord(task, jobAttributes)
    const logRecord = jobLogRecord(task, jobAttributes)
    yield { span: jobSpan(task, jobAttributes), logRecords: failure === undefined ? [logRecord] : [logRecord, failure] }
    for (const step of stepRuns(task)) {
      yield { span: stepSpan(step, attributesFrom(plan.stepAttributes, step, tally)), logRecords: noLogRecords }
    }
  }
}

/** Returns the resource and scope of each signal. Under `per-run`, the resource of metrics contains the trace id. */
function headersOf(run: PlannedRun): Record<Signal, ChunkHeader> {
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
  const header = (of: Resource, scope: InstrumentationScope): ChunkHeader => ({
    resource: of,
    scope,
    resourceSchemaUrl: SCHEMA_URL,
    scopeSchemaUrl: SCHEMA_URL,
  })
  return {
    traces: header(resource, plan.scopes.traces),
    metrics: header(metricResource, plan.scopes.metrics),
    logs: header(resource, plan.scopes.logs),
  }
}

function request<S extends Signal>(header: ChunkHeader, items: readonly ItemBySignal[S][]): OtlpRequest<S> {
  const { resource, scope, resourceSchemaUrl, scopeSchemaUrl } = header
  return {
    resources: [{ resource, scopes: [{ scope, items, schemaUrl: scopeSchemaUrl }], schemaUrl: resourceSchemaUrl }],
  }
}
