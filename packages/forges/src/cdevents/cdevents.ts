import { isObject, type JsonObject, quoted } from '../body/fields.ts'
import { isWord } from '../body/shape.ts'
import { bearerRules } from '../forge/bearer-token.ts'
import { eventName, isReadEvent } from '../forge/cdevent-type.ts'
import type { Forge } from '../forge/forge.ts'
import { tablePayload } from '../forge/table-payload.ts'
import { OtherHookError } from '../record/record-error.ts'
import { readPipelineRun, readTaskRun } from './event.ts'

/** Returns whether a body is a structured CloudEvent with a CDEvent of this name, in any version. */
const isEvent = (values: JsonObject, name: string): boolean =>
  'specversion' in values && isObject(values.data) && eventName(values.type) === name

const runPayload = tablePayload({
  kind: 'event',
  paths: {
    'object_attributes.name': 'data.subject.content.pipelineName',
    'object_attributes.status': 'data.subject.content.outcome',
    'object_attributes.finished_at': 'data.context.timestamp',
    'object_attributes.url': 'data.subject.content.url',
    'object_attributes.yaml_errors': 'data.subject.content.errors',
  },
  jobsPath: 'jobs',
  jobs: () => new Map(),
})

/** Events of CDEvents, as structured CloudEvents. */
export const cdevents = {
  expected: 'a CDEvent about a finished pipelineRun or taskRun',
  bodies: [
    {
      kind: 'CDEvents run',
      matches: (values) => isEvent(values, 'pipelinerun.finished'),
      read: (fields, receivedAtNs) => ({ kind: 'pipeline', record: readPipelineRun(fields, receivedAtNs) }),
      payload: runPayload,
    },
    {
      kind: 'CDEvents task',
      matches: (values) => isEvent(values, 'taskrun.finished'),
      read: (fields, receivedAtNs) => ({ kind: 'job', event: readTaskRun(fields, receivedAtNs) }),
    },
  ],
  nearMisses: [],
  otherHook: ({ type }) =>
    isWord(type) && eventName(type) !== undefined && !isReadEvent(type)
      ? new OtherHookError('type', quoted(type), 'pipelinerun.finished or taskrun.finished of CDEvents')
      : undefined,
  hooks: bearerRules,
} as const satisfies Forge
