import type { Gap, GapPart, Inapplicable } from '@penstock/converter'
import { OtherHookError, RecordError } from '@penstock/forges'
import type { Place } from '../input/record-stream.ts'
import { counted, printable } from '../text/wording.ts'
import type { CheckedBody, CheckedPipeline } from './checked-body.ts'

/** A record, its place in the input, and what `checkBody` reports about it. */
export interface Checked {
  readonly place: Place
  /** Whether the record was put together from jobs of the REST API. */
  readonly isJobGroup: boolean
  /** An `OtherHookError` says that the record would be skipped, any other error that it would be refused. */
  readonly result: CheckedBody | RecordError
}

const otherHook = 'hook about another event'

const headings: Readonly<Record<GapPart, string>> = {
  resource: 'resource',
  pipeline: 'pipeline span and log record',
  job: 'spans and log records of jobs',
  metric: 'metrics',
  point: 'data points of all metrics',
}

/**
 * Returns the lines about one record. Reasons contain no text from the payload; control characters in file names are
 * escaped.
 */
export function checkedAsText(checked: Checked): string {
  const { place, result } = checked
  const [first, ...rest] = textOf(checked)
  return [`${placeText(place, result)}: ${first}`, ...rest].map((line) => `${printable(line)}\n`).join('')
}

function textOf({ result, isJobGroup }: Checked): string[] {
  if (result instanceof OtherHookError) return [`${otherHook} (${result.event}): would be skipped`]
  if (result instanceof RecordError) return [`refused: ${refusal(result)}`]
  const warnings = warningLines(result.warnings)
  if (result.kind !== 'job hook') return [...pipelineLines(result, isJobGroup), ...warnings]
  return [
    `job hook of job ${result.jobId}: adds to pipeline ${result.pipelineId}, and is not exported by itself; the pipeline hook must follow`,
    ...warnings,
  ]
}

function warningLines({ items, total }: CheckedBody['warnings']): string[] {
  const lines = items.map(({ path, reason }) => `  warning: ${path === '' ? '' : `${path}: `}${reason}`)
  const unlisted = total - items.length
  return unlisted > 0 ? [...lines, `  … and ${counted(unlisted, 'more warning')}`] : lines
}

/** Lists status, decision and gaps of a pipeline. Rows that do not apply to the state of the run appear in JSON only. */
function pipelineLines(result: CheckedPipeline, isJobGroup: boolean): string[] {
  const { pipelineId, status, jobs, decision, gaps } = result
  const verdict = decision.kind === 'export' ? 'would be exported' : `would be skipped: ${decision.reason}`
  return [
    `${formOf(result, isJobGroup)} of pipeline ${pipelineId}, ${status}, ${counted(jobs, 'job')}: ${verdict}`,
    ...(gaps.length === 0 ? ['  nothing is missing'] : gapLines(gaps)),
  ]
}

const formOf = ({ kind }: CheckedBody, isJobGroup: boolean) => (isJobGroup ? 'REST jobs' : kind)

function gapLines(gaps: readonly Gap[]): string[] {
  const parts = (Object.keys(headings) as GapPart[]).filter((part) => gaps.some((gap) => gap.part === part))
  return parts.flatMap((part) => [
    `  ${headings[part]}: cannot be filled`,
    ...gaps.filter((gap) => gap.part === part).map(({ names, reason }) => `    ${names.join(', ')}: ${reason}`),
  ])
}

/** Returns one record as a line of JSON. */
export function checkedAsJson(checked: Checked): string {
  const { file, line, index } = checked.place
  return `${JSON.stringify({ file, line, index, ...jsonOf(checked) })}\n`
}

/** Returns the JSON object for a result. Ids are strings, because they may be above 2^53. */
function jsonOf({ result, isJobGroup }: Checked) {
  if (result instanceof OtherHookError) {
    return { recognised_as: 'other hook', event: unquoted(result.event), exported: false, skipped_because: otherHook }
  }
  if (result instanceof RecordError) return { refused: refusal(result) }
  const { warnings } = result
  const ids = { recognised_as: formOf(result, isJobGroup), pipeline_id: String(result.pipelineId) }
  if (result.kind === 'job hook')
    return { ...ids, job_id: String(result.jobId), warnings: warnings.items, warnings_total: warnings.total }
  const { status, jobs, decision, gaps, inapplicable } = result
  return {
    ...ids,
    status,
    jobs,
    exported: decision.kind === 'export',
    skipped_because: decision.kind === 'skip' ? decision.reason : undefined,
    warnings: warnings.items,
    warnings_total: warnings.total,
    missing: gaps.map((gap) => ({ ...rowJson(gap), needs: gap.needs, jobs_without: gap.jobsWithout })),
    not_applicable: inapplicable.map(rowJson),
  }
}

const unquoted = (text: string): string => text.replaceAll(/^"|"$/g, '')

const rowJson = ({ part, names, reason }: Inapplicable) => ({ part, attributes: names, reason })

const refusal = ({ path, reason }: RecordError): string => `${path === '' ? '' : `${path}: `}${reason}`

function placeText({ file, line, index }: Place, result: Checked['result']): string {
  const faultLine = result instanceof RecordError ? (result.line ?? line) : line
  const parts = [
    file,
    ...(faultLine === undefined ? [] : [`line ${faultLine}`]),
    ...(index === undefined ? [] : [`[${index}]`]),
  ]
  return parts.join(': ')
}
