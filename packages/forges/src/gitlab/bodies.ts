import { isObject, type JsonObject, quoted } from '../body/fields.ts'
import { has, hasAny, isInteger, isWord } from '../body/shape.ts'
import type { ReadableBody } from '../forge/forge.ts'
import { OtherHookError, RecordError } from '../record/record-error.ts'
import { readJobWebhook } from './job-webhook.ts'
import { bundlePayload, hookPayload } from './payload.ts'
import { readPipelineDetails } from './pipeline-details.ts'
import { readPipelineWebhook } from './pipeline-webhook.ts'
import { readRestBundle } from './rest.ts'

export const bundle = '{ project, pipeline, jobs, bridges }'
export const jobLists = ['jobs', 'builds', 'bridges']

/**
 * The forms of bodies that are read. `object_kind` decides; if a relay left it out, the shape decides. A body that has two of
 * these shapes is refused.
 */
export const readableBodies: readonly ReadableBody[] = [
  {
    kind: 'pipeline',
    matches: ({ object_kind, object_attributes: run }) =>
      object_kind === 'pipeline' || (!isWord(object_kind) && isObject(run) && has(run, 'id', 'status')),
    read: (fields, receivedAtNs) => ({ kind: 'pipeline', record: readPipelineWebhook(fields, receivedAtNs) }),
    payload: hookPayload,
    details: readPipelineDetails,
  },
  {
    kind: 'build',
    matches: (values) =>
      values.object_kind === 'build' || (!isWord(values.object_kind) && has(values, 'build_id', 'build_status')),
    read: (fields, receivedAtNs) => ({ kind: 'job', event: readJobWebhook(fields, receivedAtNs) }),
  },
  {
    kind: 'rest',
    matches: (values) =>
      !isWord(values.object_kind) &&
      isObject(values.pipeline) &&
      hasAny(values, ...jobLists) &&
      !hasAny(values, 'id', 'workflow'),
    read: (fields, receivedAtNs) => ({ kind: 'pipeline', record: readRestBundle(fields, receivedAtNs) }),
    payload: bundlePayload,
  },
  {
    kind: 'pipeline with jobs',
    matches: (values) =>
      !hasAny(values, 'pipeline', 'object_kind', 'object_attributes') &&
      isInteger(values.id) &&
      isWord(values.status) &&
      Array.isArray(values.jobs),
    unwrap: asBundle,
    read: (fields, receivedAtNs) => ({ kind: 'pipeline', record: readRestBundle(fields, receivedAtNs) }),
    payload: bundlePayload,
  },
]

/**
 * Returns a pipeline that contains its jobs, as `glab ci get` prints it, as a REST bundle.
 *
 * @throws {RecordError} for a pipeline that was never created because of its configuration
 */
function asBundle({ jobs, bridges, ...pipeline }: JsonObject): JsonObject {
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

/** The events of hooks that are read, for messages. */
const readEvents = 'pipeline or build'

/** Returns the error for a hook about something else, such as a push; `undefined` for other bodies. */
export function otherHook({ object_kind, event_name }: JsonObject): OtherHookError | undefined {
  if (isWord(object_kind)) return new OtherHookError('object_kind', quoted(object_kind), readEvents)
  return isWord(event_name) ? new OtherHookError('event_name', quoted(event_name), readEvents) : undefined
}
