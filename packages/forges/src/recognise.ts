import type { JsonObject } from './body/fields.ts'
import { type BodyKind, bundle, nearMisses, otherEvent, readableBodies } from './gitlab/body-signatures.ts'
import { OtherHookError, RecordError } from './record/record-error.ts'

export const expectedBody = `must be a pipeline hook, a job hook or ${bundle}`

/** The error message for an answer of `GET …/pipelines/N/jobs` that was given where a single record is expected. */
export const restJobsAdvice = `is a list of jobs of the REST API, not a pipeline: give it to penstock convert, or as ${bundle}`

/**
 * Returns the kind of a body.
 *
 * @throws {OtherHookError} for a hook about another event
 * @throws {RecordError} for every other body. For bodies that are often mistaken for a record, the message has advice.
 */
export function kindOfBody(values: JsonObject): BodyKind {
  const [first, ...others] = new Set(readableBodies.filter(({ matches }) => matches(values)).map(({ kind }) => kind))
  if (first !== undefined && others.length === 0) return first
  if (first !== undefined) throw new RecordError('', `has the members of several kinds of records; ${expectedBody}`)
  const other = otherEvent(values)
  if (other !== undefined) throw new OtherHookError(other.member, other.event)
  throw new RecordError('', nearMisses.find(({ matches }) => matches(values))?.advice(values) ?? expectedBody)
}

/**
 * Returns the body in the form that is read: a pipeline that contains its jobs, as `glab ci get` prints it, becomes a REST
 * bundle.
 *
 * @throws {RecordError} for a pipeline that was never created because of its configuration
 */
export function readableBody(kind: BodyKind, values: JsonObject): JsonObject {
  if (kind !== 'pipeline with jobs') return values
  const { jobs, bridges, ...pipeline } = values
  const { yaml_errors, created_at } = pipeline
  if (typeof yaml_errors === 'string' && yaml_errors !== '' && typeof created_at !== 'string') {
    throw new RecordError(
      'yaml_errors',
      `the configuration could not be read, so the pipeline has no jobs and no times: ${shortLine(yaml_errors)}`,
    )
  }
  return { pipeline, jobs, ...(bridges !== undefined && { bridges }) }
}

const MAX_LINE = 200

/** Returns the parser's message on one line, without credentials in the URLs of included files. */
function shortLine(text: string): string {
  const line = text
    .slice(0, 10 * MAX_LINE)
    .replace(/\s+/g, ' ')
    .replace(/:\/\/[^\s/@]*@/g, '://')
    .replace(/\?\S*/g, '?…')
    .trim()
  return line.length <= MAX_LINE ? line : `${line.slice(0, MAX_LINE - 1)}…`
}
