import { type JobRecord, type PipelineRecord, RecordError, type Warnings } from '@penstock/forges'
import { recordDigest } from './admission.ts'
import { type BodyContext, type ReceivedBody, readBody } from './received-body.ts'
import { utf8Text } from './utf8-text.ts'

/** A body that a worker thread is to read. */
export interface BodyTask {
  readonly source: string | Uint8Array
  readonly context: BodyContext
}

type JobInput = Extract<ReceivedBody['input'], { kind: 'job' }>

/** A piece of a body that has been read, small enough to cross to the main thread in one turn. */
export type BodyPart =
  | {
      readonly kind: 'refused'
      readonly path: string
      readonly reason: string
      readonly line?: number
      readonly column?: number
    }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'job'; readonly input: JobInput }
  /** The pipeline without its jobs, which follow. */
  | { readonly kind: 'pipeline'; readonly record: PipelineRecord; readonly warnings: Warnings; readonly digest: string }
  | { readonly kind: 'jobs'; readonly jobs: readonly JobRecord[] }

/** How many jobs one part holds; receiving that many takes about a millisecond. */
const JOBS_PER_PART = 250

/** Reads a body, in the worker thread. */
export function* bodyParts({ source, context }: BodyTask): Generator<BodyPart> {
  let body: ReceivedBody
  try {
    body = readBody(typeof source === 'string' ? source : utf8Text(source), context)
  } catch (error) {
    if (!(error instanceof RecordError)) throw error
    const { path, reason, line, column } = error
    yield {
      kind: 'refused',
      path,
      reason,
      ...(line !== undefined && { line }),
      ...(column !== undefined && { column }),
    }
    return
  }
  const { input, text } = body
  yield { kind: 'text', text }
  if (input.kind === 'job') {
    yield { kind: 'job', input }
    return
  }
  const { record, warnings } = input
  yield { kind: 'pipeline', record: { ...record, jobs: [] }, warnings, digest: recordDigest(record) }
  for (let at = 0; at < record.jobs.length; at += JOBS_PER_PART) {
    yield { kind: 'jobs', jobs: record.jobs.slice(at, at + JOBS_PER_PART) }
  }
}

/**
 * Joins the parts of a body, in the main thread.
 * @throws RecordError
 */
export function joinBody(parts: readonly BodyPart[]): ReceivedBody {
  let text = ''
  let input: ReceivedBody['input'] | undefined
  let digest: string | undefined
  const jobs: JobRecord[] = []
  for (const part of parts) {
    switch (part.kind) {
      case 'refused': {
        const { line, column } = part
        const position = line === undefined || column === undefined ? undefined : { line, column }
        throw new RecordError(part.path, part.reason, position)
      }
      case 'text':
        text = part.text
        break
      case 'job':
        input = part.input
        break
      case 'pipeline':
        input = { kind: 'pipeline', record: { ...part.record, jobs }, warnings: part.warnings }
        digest = part.digest
        break
      case 'jobs':
        jobs.push(...part.jobs)
    }
  }
  if (input === undefined) throw new Error('the parts of a body contain no input')
  return { input, text, ...(digest !== undefined && { digest }) }
}
