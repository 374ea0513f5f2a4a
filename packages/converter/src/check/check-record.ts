import type { EmptyField, Payload, PipelineRecord, RunId } from '@penstock/forges/record'
import { createPlan } from '../attributes/plan.ts'
import type { PointContext } from '../attributes/point-attributes.ts'
import { attributesFrom, type CompiledTable, vendorKey } from '../base/attribute-table.ts'
import type { ConvertOptions } from '../base/options.ts'
import { newTally } from '../base/text.ts'
import { type MetricRow, metricTable } from '../metrics/metric-table.ts'
import { type ExportDecision, exportDecision } from '../run/export-decision.ts'
import { type JobRun, jobRun, type PipelineRun, pipelineRun } from '../run/run.ts'
import { hasTime } from '../run/span-times.ts'

/** Whether a record is exported, and the attributes and metrics that its payload has no values for. */
export interface CheckedRecord {
  readonly decision: ExportDecision
  /** The attributes and metrics that the payload cannot fill, in the order of the tables. */
  readonly gaps: readonly Gap[]
  /** The attributes and metrics that are left out because of the state of the run. */
  readonly inapplicable: readonly Inapplicable[]
}

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
 * Returns which attributes and metrics a record cannot fill, and why.
 *
 * @param payload the payload that the record was read from
 * @param nowNs the receipt time for a record that has no time at all
 */
export function checkRecord(
  record: PipelineRecord,
  payload: Payload,
  options: ConvertOptions,
  nowNs: bigint,
): CheckedRecord {
  const run = pipelineRun(hasTime(record) ? record : { ...record, receivedAtNs: nowNs }, createPlan(options))
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
    decision: exportDecision(record, options),
    gaps: found.filter((row): row is Gap => 'needs' in row),
    inapplicable: found.filter((row) => !('needs' in row)),
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
    const spelled = needs.map((field) => payload.spelled(field))
    const jobIds = lacking.map((context) => ('job' in context ? context.job.id : undefined))
    const reasons = jobIds.map((jobId) => reasonFor(needs, payload, jobId) ?? row.absent)
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
    const spelled = needs.map((field) => payload.spelled(field))
    return { ...row, needs: spelled, reason: metricReason(needs, payload, run.record) ?? condition }
  })
}

/**
 * Returns why a metric has no value. If the metric is measured from fields of jobs, a single job with such a field is
 * enough.
 */
function metricReason(needs: readonly string[], payload: Payload, { jobs }: PipelineRecord): string | undefined {
  if (!needs.some((field) => field.startsWith(jobPrefix))) return reasonFor(needs, payload, undefined)
  if (jobs.length === 0) return 'the payload has no jobs'
  return jobs.every(({ id }) => reasonFor(needs, payload, id) !== undefined)
    ? `no job has ${needs.map((field) => field.replace(jobPrefix, '')).join(' or ')}`
    : undefined
}

/** The first part of the name of a field of a job. */
const jobPrefix = 'builds[].'

/**
 * Returns why none of the fields provides a value. `undefined` if one of them is not empty, but its value cannot be
 * used.
 */
function reasonFor(needs: readonly string[], payload: Payload, jobId: RunId | undefined): string | undefined {
  const empty: EmptyField[] = []
  for (const name of needs) {
    const field = payload.emptyField(name, jobId)
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
