import { type KeyValue, type Span, StatusCode } from '@penstock/otlp'
import type { Style } from '../text/palette.ts'
import { printable } from '../text/wording.ts'

/** The parts of a span that a waterfall shows beside its times. */
export interface SpanRow {
  readonly mark: Mark
  readonly name: string
  readonly isPipeline: boolean
  /** The number after the name: `#31` for a pipeline, `#2` for a job's second attempt, '' for most jobs. */
  readonly number: string
  /** The identity of a job; `undefined` for pipelines and stages. */
  readonly job: JobIdentity | undefined
  /** The reason of a failure, such as `script_failure`. */
  readonly detail: string
  readonly detailStyle: Style
  readonly stage: string
  /** The branch or tag of a pipeline. */
  readonly ref: string
  /** The time for which the job waited for a runner. */
  readonly queuedNs: bigint
  /** False for a job that never ran, which has a time but no length. */
  readonly executed: boolean
}

/** The identity of a job. Jobs with the same `name` below the same span are attempts of one job. */
interface JobIdentity {
  readonly id: bigint
  readonly name: string
  /** The number of the attempt, if the source has it. */
  readonly attempt: number | undefined
}

export interface Mark {
  readonly sign: string
  readonly style: Style
  readonly meaning: string
}

/** The marks. Their signs have no emoji form, so that every terminal shows them one column wide. */
export const marks = {
  success: { sign: '✓', style: 'green', meaning: 'passed' },
  failed: { sign: '✗', style: 'red', meaning: 'failed' },
  allowed: { sign: '!', style: 'yellow', meaning: 'failed, allowed' },
  canceled: { sign: '⊘', style: 'magenta', meaning: 'canceled' },
  skipped: { sign: '»', style: 'dim', meaning: 'skipped' },
  manual: { sign: '○', style: 'dim', meaning: 'not played' },
  other: { sign: '•', style: 'blue', meaning: 'other' },
} as const satisfies Record<string, Mark>

/** @param extensions whether spans have our own keys; one of them marks a job that never ran */
export function spanRow(span: Span, extensions: boolean): SpanRow {
  const attributes = new Map(span.attributes.map((attribute) => [attribute.key, attribute]))
  if (attributes.has('pipeline.id')) return pipelineRow(span, attributes)
  return jobRow(span, attributes, extensions ? isMarkedNeverRun(span) : hasProbablyNeverRun(span, attributes))
}

type Attributes = ReadonlyMap<string, KeyValue>

function pipelineRow(span: Span, attributes: Attributes): SpanRow {
  return {
    mark: markOf(textOf(attributes, 'pipeline.status'), false),
    name: printable(span.name),
    isPipeline: true,
    number: `#${textOf(attributes, 'pipeline.id')}`,
    job: undefined,
    detail: '',
    detailStyle: 'dim',
    stage: '',
    ref: printable(textOf(attributes, 'pipeline.ref')),
    queuedNs: 0n,
    executed: true,
  }
}

/** Returns the row of a job, a bridge, or a stage, which has no status. */
function jobRow(span: Span, attributes: Attributes, neverRan: boolean): SpanRow {
  const status = textOf(attributes, 'job.status')
  const allowed = attributes.get('job.allow_failure')?.value === true
  return {
    mark: attributes.has('job.id') ? markOf(status, allowed) : stageMark(span),
    name: printable(span.name.replace(/^job: /, '')),
    isPipeline: false,
    number: '',
    job: attributes.has('job.id') ? jobIdentity(span, attributes) : undefined,
    detail: printable(textOf(attributes, 'error.type')),
    detailStyle: allowed ? 'yellow' : 'red',
    stage: printable(textOf(attributes, 'job.stage')),
    ref: '',
    queuedNs: neverRan ? 0n : secondsOf(attributes, 'job.queued_duration'),
    executed: !neverRan,
  }
}

function jobIdentity(span: Span, attributes: Attributes): JobIdentity {
  const attempt = valueOfOurs(span, '.cicd.pipeline.task.run.attempt')
  const kind = ['job.name', 'job.stage', 'job.type'].map((key) => textOf(attributes, key))
  return {
    id: BigInt(textOf(attributes, 'job.id')),
    name: JSON.stringify(kind),
    attempt: attempt === undefined ? undefined : Number(attempt),
  }
}

const isMarkedNeverRun = (span: Span): boolean => valueOfOurs(span, '.cicd.pipeline.task.run.executed') === false

/** Returns the value of an attribute with one of our own keys, which begin with the vendor namespace. */
const valueOfOurs = ({ attributes }: Span, keyEnd: string): unknown =>
  attributes.find(({ key }) => key.endsWith(keyEnd))?.value

/** Returns whether a job probably never ran. A job that was canceled at the moment of its start looks the same. */
function hasProbablyNeverRun({ startTimeUnixNano, endTimeUnixNano }: Span, attributes: Attributes): boolean {
  const status = textOf(attributes, 'job.status')
  const isInstant = startTimeUnixNano === endTimeUnixNano
  return attributes.has('job.id') && isInstant && status !== 'success' && status !== 'failed'
}

function markOf(status: string, allowedToFail: boolean): Mark {
  switch (status) {
    case 'success':
    case 'skipped':
    case 'manual':
      return marks[status]
    case 'failed':
      return allowedToFail ? marks.allowed : marks.failed
    case 'canceled':
    case 'canceling':
      return marks.canceled
    default:
      return marks.other
  }
}

const stageMark = ({ status }: Span): Mark => (status?.code === StatusCode.ERROR ? marks.failed : marks.other)

function textOf(attributes: Attributes, key: string): string {
  const value = attributes.get(key)?.value
  return value === undefined ? '' : String(value)
}

function secondsOf(attributes: Attributes, key: string): bigint {
  const value = attributes.get(key)?.value
  return typeof value === 'number' ? BigInt(Math.round(value * 1e9)) : 0n
}
