import { isObject, type JsonObject, quoted } from '../body/fields.ts'
import { has, isWord } from '../body/shape.ts'
import type { Forge } from '../forge/forge.ts'
import { OtherHookError } from '../record/record-error.ts'
import { hookRules } from './hook-rules.ts'
import { bundlePayload, hookPayload } from './payload.ts'
import { api } from './rest-api.ts'
import { readBuildHook, readBundle } from './run.ts'
import { readRunningJob } from './running-job.ts'

const bundle = '{ build, timeline }'
const EVENT = 'build.complete'

const isHook = (values: JsonObject): boolean => isWord(values.eventType) && has(values, 'id', 'publisherId')

export const azure = {
  expected: `a hook of Azure Pipelines or its ${bundle}`,
  bodies: [
    {
      kind: 'Azure build hook',
      matches: (values) => values.eventType === EVENT && isHook(values) && isObject(values.resource),
      read: (fields, receivedAtNs) => ({ kind: 'pipeline', record: readBuildHook(fields, receivedAtNs) }),
      payload: hookPayload,
    },
    {
      kind: 'Azure bundle',
      matches: (values) => isObject(values.build) && 'timeline' in values,
      read: (fields, receivedAtNs) => ({ kind: 'pipeline', record: readBundle(fields, receivedAtNs) }),
      payload: bundlePayload,
    },
  ],
  nearMisses: [
    {
      name: 'Azure build',
      matches: (values) => has(values, 'id', 'buildNumber', 'status'),
      advice: () => `is a build in the format of Azure Pipelines without its timeline; give ${bundle}`,
    },
    {
      name: 'Azure timeline',
      matches: (values) => has(values, 'records', 'changeId'),
      advice: () => `is a timeline in the format of Azure Pipelines without its build; give ${bundle}`,
    },
  ],
  otherHook: (values) =>
    isHook(values) && values.eventType !== EVENT
      ? new OtherHookError('eventType', quoted(String(values.eventType)), EVENT)
      : undefined,
  hooks: hookRules,
  api,
  variableMembers: ['parameters', 'templateParameters'],
  readRunningJob,
} as const satisfies Forge
