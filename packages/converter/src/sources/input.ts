import type { PipelineRecord } from '../record.ts'
import { bodyFields, type Fields, isObject, type JsonObject, kindOf, quoted, warn } from './fields.ts'
import { type JobEvent, readJobWebhook } from './job-webhook.ts'
import { readPipelineWebhook } from './pipeline-webhook.ts'
import { RecordError } from './record-error.ts'
import { readRestBundle } from './rest.ts'
import { newWarnings, type Warnings } from './warnings.ts'

export type Input =
  | { readonly kind: 'pipeline'; readonly record: PipelineRecord; readonly warnings: Warnings }
  | { readonly kind: 'job'; readonly event: JobEvent; readonly warnings: Warnings }

/** What the intake knows about a body. */
export interface Intake {
  readonly receivedAtNs: bigint | undefined
}

/** Objects and lists inside each other beyond which a body is called deeply nested. */
export const nestingLimit = 512

const expected = 'must be a pipeline hook, a job hook or { project, pipeline, jobs, bridges }'

/**
 * Any body we understand as a record or an event. `body` is a parsed JSON value; read it with `parseLossless`, or ids
 * above 2^53 are refused.
 *
 * Throws a `RecordError` when the body is none of the three kinds or lacks what every record needs: the pipeline's id
 * and status, and those of each job. Everything else that is unusable becomes a warning.
 *
 * @see spec/pipeline-telemetry.md 1
 */
export function readInput(body: unknown, intake: Intake): Input {
  if (!isObject(body)) throw new RecordError('', `${expected}, got ${kindOf(body)}`)
  const warnings = newWarnings()
  const fields = bodyFields(body, warnings)
  const input = read(fields, intake)
  if (isNestedDeeper(body, nestingLimit)) warn(fields, '', `has more than ${nestingLimit} levels of nesting`)
  return input
}

function read(fields: Fields, { receivedAtNs }: Intake): Input {
  const { warnings } = fields
  switch (kindOfBody(fields)) {
    case 'pipeline':
      return { kind: 'pipeline', record: readPipelineWebhook(fields, receivedAtNs), warnings }
    case 'rest':
      return { kind: 'pipeline', record: readRestBundle(fields, receivedAtNs), warnings }
    case 'build':
      return { kind: 'job', event: readJobWebhook(fields, receivedAtNs), warnings }
  }
}

/** Relays leave `object_kind` out, so the shape decides then. */
function kindOfBody({ values }: Fields): 'pipeline' | 'build' | 'rest' {
  const kind = values.object_kind
  if (kind === 'pipeline' || kind === 'build') return kind
  if (typeof kind === 'string' && kind !== '')
    throw new RecordError('object_kind', `must be pipeline or build, got ${quoted(kind)}`)
  const run = values.object_attributes
  if (isObject(run) && 'id' in run && 'status' in run) return 'pipeline'
  if (isObject(values.pipeline)) return 'rest'
  throw new RecordError('', expected)
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
