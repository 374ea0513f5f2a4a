import { type KeyValue, type Span, type SpanEvent, SpanKind, type SpanLink, StatusCode } from '@penstock/otlp'
import type { PlannedJob, PlannedRun, PlannedStep } from '../attributes/plan.ts'
import { attributesFrom, vendorKey } from '../base/attribute-table.ts'
import { EVENT_SVC_JOB_FAILURE } from '../base/semconv.ts'
import { toStatusCode } from '../base/status-maps.ts'
import { cleanText, MAX_NAME_BYTES } from '../base/text.ts'
import { failedJobs } from '../run/run.ts'
import { jobTimes, type SpanTimes } from '../run/span-times.ts'
import { attemptLinks, pipelineAttachment } from './links.ts'
import { LOCAL, REMOTE } from './span-flags.ts'

/** Returns the pipeline's span: the root of its trace, or a child of the bridge that started it. */
export function pipelineSpan(run: PlannedRun, attributes: readonly KeyValue[]): Span {
  const { record, options } = run
  const { parentSpanId, links } = pipelineAttachment(run)
  return span(run, {
    spanId: run.spanId,
    parentSpanId,
    flags: run.ids.traceFlags | (parentSpanId === '' ? LOCAL : REMOTE),
    name: pipelineSpanName(run),
    kind: options.spanKind === 'semconv' ? SpanKind.SERVER : SpanKind.INTERNAL,
    times: run.times,
    attributes,
    links,
    code: toStatusCode(record.status, options),
    reason: run.errorType,
  })
}

/** Returns the span of a job or bridge attempt: a child of the pipeline span, or of the stage span under `stageSpans`. */
export function jobSpan(task: PlannedJob, attributes: readonly KeyValue[]): Span {
  const { job, run } = task
  const { options, ids } = run
  return span(run, {
    spanId: task.spanId,
    parentSpanId:
      options.stageSpans && job.stage !== undefined
        ? ids.stageSpanId(run.instance, run.record.id, job.stage)
        : run.spanId,
    flags: ids.traceFlags | LOCAL,
    name: `job: ${job.name ?? `#${job.id}`}`,
    kind: SpanKind.INTERNAL,
    times: task.times,
    attributes,
    links: attemptLinks(task),
    events: failureEvents(task),
    code: toStatusCode(job.status, options),
    reason: task.errorType,
  })
}

/** Returns the event with the failing lines of the job's log, at the end of the job. */
function failureEvents({ job, run, times }: PlannedJob): readonly SpanEvent[] {
  const { options, plan, tally } = run
  if (job.failure === undefined || !options.extensions) return []
  return [
    {
      timeUnixNano: times.endNs,
      name: vendorKey(EVENT_SVC_JOB_FAILURE, options.vendorNamespace),
      attributes: attributesFrom(plan.failureAttributes, job.failure, tally),
      droppedAttributesCount: 0,
    },
  ]
}

/** Returns the span of a step, a child of its job's span, or of the section that contains it. */
export function stepSpan(
  { task, step, number, spanId, parentSpanId, times }: PlannedStep,
  attributes: readonly KeyValue[],
): Span {
  const { run } = task
  return span(run, {
    spanId,
    parentSpanId,
    flags: run.ids.traceFlags | LOCAL,
    name: `step: ${step.name ?? `#${number}`}`,
    kind: SpanKind.INTERNAL,
    times,
    attributes,
    links: [],
    code: toStatusCode(step.status, run.options),
    reason: undefined,
  })
}

/**
 * Returns one span for each stage that has jobs, from the earliest start of its jobs to their latest end. Returns none
 * without the option `stageSpans`.
 */
export function stageSpans(run: PlannedRun): Span[] {
  if (!run.options.stageSpans) return []
  const failedStages = new Set(failedJobs(run.record).map((job) => job.stage))
  return [...stageEnvelopes(run)].map(([stage, times]) => {
    const code = failedStages.has(stage) ? StatusCode.ERROR : StatusCode.UNSET
    return span(run, {
      spanId: run.ids.stageSpanId(run.instance, run.record.id, stage),
      parentSpanId: run.spanId,
      flags: run.ids.traceFlags | LOCAL,
      name: stage,
      kind: SpanKind.INTERNAL,
      times,
      attributes: attributesFrom(run.plan.stageAttributes, { run, stage }, run.tally),
      links: [],
      code,
      reason: undefined,
    })
  })
}

function stageEnvelopes(run: PlannedRun): Map<string, SpanTimes> {
  const envelopes = new Map<string, SpanTimes>()
  for (const job of run.exportedJobs) {
    if (job.stage === undefined) continue
    const { startNs, endNs } = jobTimes(job, run.times)
    const known = envelopes.get(job.stage)
    envelopes.set(job.stage, {
      startNs: known === undefined || startNs < known.startNs ? startNs : known.startNs,
      endNs: known === undefined || endNs > known.endNs ? endNs : known.endNs,
      adjusted: false,
    })
  }
  return envelopes
}

/** Returns `RUN {name}`. Semconv requires names of low cardinality, so the name does not contain the ref. */
function pipelineSpanName({ record, options }: PlannedRun): string {
  if (options.spanNames === 'native') return `pipeline: ${record.name ?? record.ref ?? `#${record.id}`}`
  const name = record.name ?? record.project.name
  return name === undefined ? 'RUN' : `RUN ${name}`
}

interface SpanParts {
  readonly spanId: string
  readonly parentSpanId: string
  readonly flags: number
  readonly name: string
  readonly kind: number
  readonly times: SpanTimes
  readonly attributes: readonly KeyValue[]
  readonly links: readonly SpanLink[]
  readonly events?: readonly SpanEvent[]
  readonly code: number
  readonly reason: string | undefined
}

function span(run: PlannedRun, parts: SpanParts): Span {
  const message = run.options.statusMessage === 'reason' && parts.code === StatusCode.ERROR ? (parts.reason ?? '') : ''
  return {
    traceId: run.traceId,
    spanId: parts.spanId,
    traceState: run.traceState,
    parentSpanId: parts.parentSpanId,
    flags: parts.flags,
    name: cleanText(parts.name, MAX_NAME_BYTES, run.tally),
    kind: parts.kind,
    startTimeUnixNano: parts.times.startNs,
    endTimeUnixNano: parts.times.endNs,
    attributes: parts.attributes,
    droppedAttributesCount: 0,
    events: parts.events ?? [],
    droppedEventsCount: 0,
    links: parts.links,
    droppedLinksCount: 0,
    status:
      parts.code === StatusCode.UNSET
        ? undefined
        : { message: cleanText(message, MAX_NAME_BYTES, run.tally), code: parts.code },
  }
}
