import { findEntry, MAX_STEPS, type StepRecord } from '@penstock/forges/record'
import { hasNeverRun, resultByStatus } from '../base/status-maps.ts'
import type { JobRun, RunSettings } from './run.ts'
import type { SpanTimes } from './span-times.ts'

/** A step of a job that gets a span. */
export interface StepRun<Plan extends RunSettings = RunSettings> {
  readonly task: JobRun<Plan>
  readonly step: StepRecord
  /** The position of the step within its job, from 1. */
  readonly number: number
  readonly spanId: string
  /** The span of the section that contains the step, or of the job. */
  readonly parentSpanId: string
  readonly times: SpanTimes
  readonly result: string | undefined
}

/** Returns the steps of a job that get a span: those with a time, up to `MAX_STEPS`. Further ones are counted in the tally. */
export function stepRuns<Plan extends RunSettings>(task: JobRun<Plan>): readonly StepRun<Plan>[] {
  const { run, job } = task
  if (job.steps === undefined || !run.options.steps) return []
  run.tally.droppedElements += Math.max(0, job.steps.length - MAX_STEPS)
  const byNumber = new Map<number, StepRun<Plan>>()
  for (const [index, step] of job.steps.slice(0, MAX_STEPS).entries()) {
    const number = index + 1
    const parent = byNumber.get(step.section?.parent ?? 0) ?? task
    const times = step.section === undefined ? stepTimes(step, task.times) : sectionTimes(step, parent.times)
    if (times === undefined) continue
    if (times.adjusted) run.tally.adjustedSpans++
    byNumber.set(number, {
      task,
      step,
      number,
      spanId: run.ids.stepSpanId(run.instance, run.record.id, job.id, number),
      parentSpanId: parent.spanId,
      times,
      result: findEntry(resultByStatus, step.status),
    })
  }
  return [...byNumber.values()]
}

/** A second, the precision of the times of sections. */
const PRECISION_NS = 1_000_000_000n

/**
 * Returns start and end of a section's span, which lies within the job or section that contains it; `undefined` for a section without
 * a time. A section without an end ends with what contains it.
 */
function sectionTimes({ startedAtNs, finishedAtNs }: StepRecord, outer: SpanTimes): SpanTimes | undefined {
  if (startedAtNs === undefined) return undefined
  const startNs = within(startedAtNs, outer)
  const endNs = within(finishedAtNs ?? outer.endNs, { ...outer, startNs })
  const adjusted = isMoved(startedAtNs, startNs) || (finishedAtNs !== undefined && isMoved(finishedAtNs, endNs))
  return { startNs, endNs, adjusted }
}

const isMoved = (fromNs: bigint, toNs: bigint): boolean =>
  fromNs - toNs >= PRECISION_NS || toNs - fromNs >= PRECISION_NS

/**
 * Returns start and end of a step's span; `undefined` for a step without a time. A step that never ran has no length: some
 * forges give it times that are hours apart, which are then moved into its job.
 */
function stepTimes({ status, startedAtNs, finishedAtNs }: StepRecord, job: SpanTimes): SpanTimes | undefined {
  const startNs = startedAtNs ?? finishedAtNs
  if (startNs === undefined) return undefined
  if (hasNeverRun(status)) {
    const atNs = within(startNs, job)
    return { startNs: atNs, endNs: atNs, adjusted: atNs !== startNs }
  }
  const endNs = finishedAtNs ?? job.endNs
  return endNs < startNs ? { startNs, endNs: startNs, adjusted: true } : { startNs, endNs, adjusted: false }
}

function within(atNs: bigint, { startNs, endNs }: SpanTimes): bigint {
  if (atNs < startNs) return startNs
  return atNs > endNs ? endNs : atNs
}
