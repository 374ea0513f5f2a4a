import { bodyFields, type Fields, isObject, type JsonObject, kindOf, warn } from './body/fields.ts'
import type { BodyKind } from './gitlab/body-signatures.ts'
import { readJobWebhook } from './gitlab/job-webhook.ts'
import { gitlabPayload } from './gitlab/payload.ts'
import { readPipelineWebhook } from './gitlab/pipeline-webhook.ts'
import { readRestBundle } from './gitlab/rest.ts'
import { isRestJob } from './gitlab/rest-jobs.ts'
import { expectedBody, kindOfBody, readableBody, restJobsAdvice } from './recognise.ts'
import type { JobEvent } from './record/job-event.ts'
import type { Payload } from './record/payload.ts'
import type { PipelineRecord } from './record/pipeline-record.ts'
import { RecordError } from './record/record-error.ts'
import { newWarnings, type Warnings } from './record/warnings.ts'

export type Input =
  | { readonly kind: 'pipeline'; readonly record: PipelineRecord; readonly warnings: Warnings }
  | { readonly kind: 'job'; readonly event: JobEvent; readonly warnings: Warnings }

/** The facts about a body that are not in the body. */
export interface Intake {
  readonly receivedAtNs: bigint | undefined
}

/** The nesting depth of objects and lists above which a body gets a warning. */
export const nestingLimit = 512

/**
 * Reads a body as a record or a job event. `body` is a parsed JSON value. Parse it with `parseLossless`; otherwise ids
 * above 2^53 are refused.
 *
 * Each unusable optional field adds a warning.
 *
 * @throws {OtherHookError} for a hook about another event, such as a push
 * @throws {RecordError} for a body that is none of the three kinds, or lacks a required field: id and status of the
 * pipeline and of each job
 */
export function readInput(body: unknown, intake: Intake): Input {
  if (Array.isArray(body) && body.some(isRestJob)) throw new RecordError('', restJobsAdvice)
  if (!isObject(body)) throw new RecordError('', `${expectedBody}, got ${kindOf(body)}`)
  const warnings = newWarnings()
  const kind = kindOfBody(body)
  const fields = bodyFields(readableBody(kind, body), warnings)
  const input = read(kind, fields, intake)
  if (isNestedDeeper(body, nestingLimit)) warn(fields, '', `has more than ${nestingLimit} levels of nesting`)
  return input
}

function read(kind: BodyKind, fields: Fields, { receivedAtNs }: Intake): Input {
  const { warnings } = fields
  switch (kind) {
    case 'pipeline':
      return { kind: 'pipeline', record: readPipelineWebhook(fields, receivedAtNs), warnings }
    case 'rest':
    case 'pipeline with jobs':
      return { kind: 'pipeline', record: readRestBundle(fields, receivedAtNs), warnings }
    case 'build':
      return { kind: 'job', event: readJobWebhook(fields, receivedAtNs), warnings }
  }
}

function isNestedDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (levels === 0) return true
  if (Array.isArray(value)) return value.some((item) => isNestedDeeper(item, levels - 1))
  for (const key in value) {
    if (isNestedDeeper((value as JsonObject)[key], levels - 1)) return true
  }
  return false
}

/**
 * Returns the fields of a body that `readInput` has read as a pipeline.
 *
 * @throws {RecordError} for a body that is no record
 */
export function readPayload(body: JsonObject): Payload {
  return gitlabPayload(readableBody(kindOfBody(body), body))
}
