import { MAX_FAILURE_BYTES } from '@penstock/forges/record'
import type { KeyValue, LogRecord } from '@penstock/otlp'
import type { LogContext } from '../attributes/log-attributes.ts'
import type { PlannedJob, PlannedRun } from '../attributes/plan.ts'
import { attributesFrom, vendorKey } from '../base/attribute-table.ts'
import { EVENT_SVC_JOB_FAILURE } from '../base/semconv.ts'
import { cleanText, MAX_NAME_BYTES } from '../base/text.ts'
import { type Severity, toSeverity } from './severity.ts'

/** The value by which OTLP marks an unknown time. */
const UNKNOWN_TIME = 0n

/** Returns the log record `Pipeline {status}: {name}`, with the attributes of the pipeline span. */
export function pipelineLogRecord(run: PlannedRun, spanAttributes: readonly KeyValue[]): LogRecord {
  const { record } = run
  return logRecord(run, {
    timeNs: pipelineLogTime(run),
    severity: toSeverity(record.status),
    body: `Pipeline ${record.status}: ${record.name ?? record.ref ?? `#${record.id}`}`,
    spanId: run.spanId,
    source: 'pipeline',
    event: 'svc.cicd.pipeline.completed',
    spanAttributes,
  })
}

/** Returns the log record `Job {status}: {name} ({stage})`, with the attributes of the job's span. */
export function jobLogRecord(task: PlannedJob, spanAttributes: readonly KeyValue[]): LogRecord {
  const { job, run } = task
  const stage = job.stage === undefined ? '' : ` (${job.stage})`
  return logRecord(run, {
    timeNs: job.finishedAtNs ?? job.startedAtNs ?? job.createdAtNs ?? pipelineLogTime(run),
    severity: toSeverity(job.status, job.allowFailure),
    body: `Job ${job.status}: ${job.name ?? `#${job.id}`}${stage}`,
    spanId: task.spanId,
    source: 'job',
    event: 'svc.cicd.pipeline.task.completed',
    spanAttributes,
  })
}

/** Returns the log record with the failing lines of a job as its body, and the attributes of the job's span; `undefined` without such lines. */
export function failureLogRecord(task: PlannedJob, spanAttributes: readonly KeyValue[]): LogRecord | undefined {
  const { job, run, times } = task
  if (job.failure === undefined || !run.options.extensions) return undefined
  return logRecord(run, {
    timeNs: times.endNs,
    severity: toSeverity(job.status, job.allowFailure),
    body: job.failure.lines,
    maxBodyBytes: MAX_FAILURE_BYTES,
    spanId: task.spanId,
    source: 'job',
    event: EVENT_SVC_JOB_FAILURE,
    spanAttributes,
  })
}

const pipelineLogTime = ({ record }: PlannedRun): bigint =>
  record.finishedAtNs ?? record.updatedAtNs ?? record.createdAtNs ?? UNKNOWN_TIME

interface LogParts {
  readonly timeNs: bigint
  readonly severity: Severity
  readonly body: string
  /** The maximum number of UTF-8 bytes of the body, if it is not `MAX_NAME_BYTES`. */
  readonly maxBodyBytes?: number
  readonly spanId: string
  readonly source: LogContext['source']
  readonly event: string
  readonly spanAttributes: readonly KeyValue[]
}

function logRecord(run: PlannedRun, parts: LogParts): LogRecord {
  const { severity, source, spanAttributes } = parts
  const own = attributesFrom(run.plan.logAttributes, { severityText: severity.text, source }, run.tally)
  return {
    timeUnixNano: parts.timeNs,
    observedTimeUnixNano: run.observedNs,
    severityNumber: severity.number,
    severityText: severity.text,
    body: { type: 'string', value: cleanText(parts.body, parts.maxBodyBytes ?? MAX_NAME_BYTES, run.tally) },
    // The attribute objects are those of the span, so that an encoder encodes the shared part once.
    attributes: own.concat(spanAttributes),
    droppedAttributesCount: 0,
    flags: run.ids.traceFlags,
    traceId: run.traceId,
    spanId: parts.spanId,
    eventName: run.options.eventNames ? vendorKey(parts.event, run.options.vendorNamespace) : '',
  }
}
