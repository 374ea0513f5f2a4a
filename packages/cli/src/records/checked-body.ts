import { type CheckedRecord, type ConvertOptions, checkRecord } from '@penstock/converter'
import {
  type ForgeName,
  type JsonObject,
  type Payload,
  type RunId,
  readInput,
  readPayload,
  type Warnings,
} from '@penstock/forges'

/** The kind of a body, and the attributes and metrics that its record lacks. */
export type CheckedBody = CheckedPipeline | CheckedJobHook

export interface CheckedPipeline extends CheckedRecord {
  readonly kind: Payload['kind']
  readonly pipelineId: RunId
  readonly status: string
  readonly jobs: number
  readonly warnings: Warnings
}

interface CheckedJobHook {
  readonly kind: 'job hook'
  readonly pipelineId: RunId
  readonly jobId: RunId
  readonly warnings: Warnings
}

/**
 * Returns what a body is recognised as, and which attributes and metrics it cannot fill.
 *
 * @param nowNs the receipt time for a record that has no time at all
 * @throws {RecordError} for a body that is no record
 */
export function checkBody(body: unknown, options: ConvertOptions, nowNs: bigint, forge?: ForgeName): CheckedBody {
  const input = readInput(body, { receivedAtNs: undefined, forge })
  const { warnings } = input
  if (input.kind === 'job') {
    const { pipelineId, jobId } = input.event
    return { kind: 'job hook', pipelineId, jobId, warnings }
  }
  const { record } = input
  const payload = readPayload(body as JsonObject, forge)
  return {
    kind: payload.kind,
    pipelineId: record.id,
    status: record.status,
    jobs: record.jobs.length,
    ...checkRecord(record, payload, options, nowNs),
    warnings,
  }
}
