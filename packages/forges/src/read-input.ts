import { bodyFields, isObject, type JsonObject, jsonKind, warn } from './body/fields.ts'
import type { BodyContent } from './forge/forge.ts'
import type { ForgeName } from './forges.ts'
import { expectedBody, listAdvice, recognise } from './recognise.ts'
import type { Payload } from './record/payload.ts'
import type { PipelineDetails } from './record/pipeline-details.ts'
import type { PipelineRecord } from './record/pipeline-record.ts'
import { RecordError } from './record/record-error.ts'
import { newWarnings, type Warnings } from './record/warnings.ts'

export type Input = BodyContent & { readonly warnings: Warnings }

/** The facts about a body that are not in the body. */
export interface Intake {
  readonly receivedAtNs: bigint | undefined
  /** The forge that sent the body; absent to recognise it by the body. */
  readonly forge?: ForgeName | undefined
}

/** The nesting depth of objects and lists above which a body gets a warning. */
export const nestingLimit = 512

/**
 * Reads a body of any forge as a record or a job event. `body` is a parsed JSON value. Parse it with `parseLossless`;
 * otherwise ids above 2^53 are refused.
 *
 * Each unusable optional field adds a warning.
 *
 * @throws {OtherHookError} for a hook about another event, such as a push
 * @throws {RecordError} for a body that no forge reads, or that lacks a required field: id and status of the pipeline and
 * of each job
 */
export function readInput(body: unknown, { receivedAtNs, forge }: Intake): Input {
  const advice = Array.isArray(body) ? listAdvice(body) : undefined
  if (advice !== undefined) throw new RecordError('', advice)
  if (!isObject(body)) throw new RecordError('', `${expectedBody}, got ${jsonKind(body)}`)
  const warnings = newWarnings()
  const form = recognise(body, forge)
  const fields = bodyFields(form.unwrap?.(body) ?? body, warnings)
  const content = form.read(fields, receivedAtNs)
  if (isNestedDeeper(body, nestingLimit)) warn(fields, '', `has more than ${nestingLimit} levels of nesting`)
  return { ...content, warnings }
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
export function readPayload(body: JsonObject, forge?: ForgeName): Payload {
  const { kind, unwrap, payload } = recognise(body, forge)
  if (payload === undefined) throw new RecordError('', `is a ${kind}, not a pipeline`)
  return payload(unwrap?.(body) ?? body)
}

/**
 * Reads the body of a pipeline hook: its record, and the facts that are not in the record.
 *
 * @throws {RecordError} for a body that is no pipeline hook, or as `readInput` does
 */
export function readPipelineHook(body: unknown): {
  readonly record: PipelineRecord
  readonly details: PipelineDetails
} {
  const content = readInput(body, { receivedAtNs: undefined })
  const details = isObject(body) ? recognise(body).details?.(bodyFields(body, newWarnings())) : undefined
  if (content.kind !== 'pipeline' || details === undefined) throw new RecordError('', 'is not a pipeline hook')
  return { record: content.record, details }
}
