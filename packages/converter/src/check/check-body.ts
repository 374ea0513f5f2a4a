import { attributesFrom, type CompiledTable, vendorKey } from '../attribute-table.ts'
import { type ExportDecision, exportDecision } from '../export-decision.ts'
import { type MetricRow, metricTable } from '../metrics/metric-table.ts'
import type { PointContext } from '../metrics/point-attributes.ts'
import type { ConvertOptions } from '../options.ts'
import { planOf } from '../plan.ts'
import type { PipelineRecord } from '../record.ts'
import { type JobRun, jobRun, type PipelineRun, pipelineRun } from '../run.ts'
import { kindOfBody, readableBody } from '../sources/body-kind.ts'
import { isObject, type JsonObject } from '../sources/fields.ts'
import { readInput } from '../sources/input.ts'
import type { Warnings } from '../sources/warnings.ts'
import { newTally } from '../text.ts'
import { hasTime } from '../traces/span-times.ts'
import { type EmptyField, emptyField, isJobField, type PayloadForm, pathIn, spelledPath } from './payload-field.ts'

/** The kind of a payload, and the attributes and metrics that it has no values for. */
export type CheckedBody =
  | {
      readonly kind: 'pipeline hook' | 'REST bundle'
      readonly pipelineId: bigint
      readonly status: string
      readonly jobs: number
      readonly decision: ExportDecision
      readonly warnings: Warnings
      /** The attributes and metrics that the payload cannot fill, in the order of the tables. */
      readonly gaps: readonly Gap[]
      /** The attributes and metrics that are left out because of the state of the run. */
      readonly inapplicable: readonly Inapplicable[]
    }
  | { readonly kind: 'job hook'; readonly pipelineId: bigint; readonly jobId: bigint; readonly warnings: Warnings }

export type GapPart = 'resource' | 'pipeline' | 'job' | 'metric' | 'point'

export interface Gap {
  readonly part: GapPart
  /** The attribute keys that would carry the missing value, or the name of the missing metric. */
  readonly names: readonly string[]
  readonly reason: string
  /** The payload fields from which the value could be read; one of them is enough. */
  readonly needs: readonly string[]
  /** How many jobs lack the field; for job attributes only. */
  readonly jobsWithout?: number
}

export type Inapplicable = Pick<Gap, 'part' | 'names' | 'reason'>

/**
 * Returns what a body is recognised as, and which attributes and metrics it cannot fill.
 *
 * @param nowNs the receipt time for a record that has no time at all
 * @throws {RecordError} for a body that is no record
 */
export function checkBody(body: unknown, options: ConvertOptions, nowNs: bigint): CheckedBody {
  const input = readInput(body, { receivedAtNs: undefined })
  const { warnings } = input
  if (input.kind === 'job') {
    const { pipelineId, jobId } = input.event
    return { kind: 'job hook', pipelineId, jobId, warnings }
  }
  const { record } = input
  const payload = payloadOf(readableBody(kindOfBody(body as JsonObject), body as JsonObject))
  const run = pipelineRun(hasTime(record) ? record : { ...record, receivedAtNs: nowNs }, planOf(options))
  const found = [
    ...rowsOf('resource', run.plan.resourceAttributes, [run], payload),
    ...rowsOf('pipeline', run.plan.pipelineAttributes, [run], payload),
    ...rowsOf(
      'job',
      run.plan.jobAttributes,
      record.jobs.map((job) => jobRun(job, run)),
      payload,
    ),
    ...metricRows(run, payload),
    ...rowsOf('point', run.plan.pointAttributes, [{ run }], payload),
  ]
  return {
    kind: payload.form === 'hook' ? 'pipeline hook' : 'REST bundle',
    pipelineId: record.id,
    status: record.status,
    jobs: record.jobs.length,
    decision: exportDecision(record, options),
    warnings,
    gaps: found.filter((row): row is Gap => 'needs' in row),
    inapplicable: found.filter((row) => !('needs' in row)),
  }
}

/** A body, and its jobs by id. */
interface Payload {
  readonly form: PayloadForm
  readonly body: JsonObject
  readonly jobs: ReadonlyMap<string, JsonObject>
}

function payloadOf(body: JsonObject): Payload {
  const lists = ['builds', 'jobs', 'bridges'].map((key) => body[key])
  const jobs = lists.flatMap((list) => (Array.isArray(list) ? list.filter(isObject) : []))
  return {
    form: isObject(body.object_attributes) ? 'hook' : 'rest',
    body,
    jobs: new Map(jobs.map((job) => [String(job.id), job])),
  }
}

type Context = PipelineRun | JobRun | PointContext

/** Returns the rows of a table that have no value in at least one of the contexts. */
function rowsOf<C extends Context>(
  part: Exclude<GapPart, 'metric'>,
  table: CompiledTable<C>,
  contexts: readonly C[],
  payload: Payload,
): (Gap | Inapplicable)[] {
  return table.rows.flatMap((row) => {
    const isLacking = (context: C) =>
      (row.applies?.(context) ?? true) && attributesFrom({ rows: [row], scratch: [] }, context, newTally()).length === 0
    const lacking = contexts.filter(isLacking)
    if (lacking.length === 0) return []
    const names = row.keys
    if (row.needs === undefined) {
      return lacking.length === contexts.length ? [{ part, names, reason: row.absent }] : []
    }
    const { needs } = row
    const spelled = needs.map((path) => spelledPath(payload.form, path))
    const bodies = lacking.map((context) => ('job' in context ? payload.jobs.get(String(context.job.id)) : undefined))
    const reasons = bodies.map((job) => reasonFor(needs, payload, job) ?? row.absent)
    if (part !== 'job') return [{ part, names, needs: spelled, reason: reasons[0]! }]
    return [
      { part, names, needs: spelled, reason: countedReasons(reasons, contexts.length), jobsWithout: lacking.length },
    ]
  })
}

function metricRows(run: PipelineRun, payload: Payload): (Gap | Inapplicable)[] {
  const isLacking = ({ measure }: MetricRow) => measure(run).length === 0
  return metricTable.filter(isLacking).map(({ name, needs, emitted }) => {
    const row = { part: 'metric' as const, names: [vendorKey(name, run.options.vendorNamespace)] }
    const condition = `emitted when: ${emitted}`
    if (needs === undefined) return { ...row, reason: condition }
    const spelled = needs.map((path) => spelledPath(payload.form, path))
    return { ...row, needs: spelled, reason: metricReason(needs, payload, run.record) ?? condition }
  })
}

/**
 * Returns why a metric has no value. If the metric is measured from fields of jobs, a single job with such a field is
 * enough.
 */
function metricReason(needs: readonly string[], payload: Payload, { jobs }: PipelineRecord): string | undefined {
  if (!needs.some(isJobField)) return reasonFor(needs, payload, undefined)
  const bodies = jobs.map(({ id }) => payload.jobs.get(String(id)))
  if (bodies.length === 0) return 'the payload has no jobs'
  return bodies.every((job) => reasonFor(needs, payload, job) !== undefined)
    ? `no job has ${needs.map((path) => pathIn(payload.form, path)).join(' or ')}`
    : undefined
}

/**
 * Returns why none of the fields provides a value. `undefined` if one of them is not empty, but its value cannot be
 * used.
 */
function reasonFor(needs: readonly string[], { form, body }: Payload, job: JsonObject | undefined): string | undefined {
  const empty: EmptyField[] = []
  for (const path of needs) {
    const owner = isJobField(path) ? job : body
    const field = owner && emptyField(owner, pathIn(form, path))
    if (field === undefined) return undefined
    empty.push(field)
  }
  return empty.map(({ path, is }) => `${path} is ${is}`).join(', ')
}

/** Returns each different reason with its number of jobs, such as `3 of 12 jobs: runner is null`. */
function countedReasons(reasons: readonly string[], jobs: number): string {
  const countByReason = new Map<string, number>()
  for (const reason of reasons) countByReason.set(reason, (countByReason.get(reason) ?? 0) + 1)
  return [...countByReason].map(([reason, count]) => `${count} of ${jobs} jobs: ${reason}`).join('; ')
}
