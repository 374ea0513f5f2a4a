import { isObject, type JsonObject, quoted } from '../body/fields.ts'
import { has, isWord } from '../body/shape.ts'
import type { Forge } from '../forge/forge.ts'
import { OtherHookError } from '../record/record-error.ts'
import { hookRules } from './hook-rules.ts'
import { buildPayload, hookPayload } from './payload.ts'
import { api } from './rest-api.ts'
import { readBuild, readHook } from './run.ts'

const isHook = (values: JsonObject): boolean => isWord(values.action) && isObject(values.repo)
const isBuild = (values: JsonObject): boolean => has(values, 'id', 'number', 'status', 'event', 'after', 'repo_id')

export const drone = {
  expected: 'a hook of Drone or a build with its stages',
  bodies: [
    {
      kind: 'Drone hook',
      matches: (values) => isHook(values) && isObject(values.build),
      read: (fields, receivedAtNs) => ({ kind: 'pipeline', record: readHook(fields, receivedAtNs) }),
      payload: hookPayload,
    },
    {
      kind: 'Drone build',
      matches: (values) => isBuild(values) && Array.isArray(values.stages),
      read: (fields, receivedAtNs) => ({ kind: 'pipeline', record: readBuild(fields, receivedAtNs) }),
      payload: buildPayload,
    },
  ],
  nearMisses: [
    {
      name: 'Drone',
      matches: (values) => isBuild(values) && !('stages' in values),
      advice: () => 'is a build in the format of Drone without its stages; give the answer for this build alone',
    },
  ],
  // Hooks about repositories and users.
  otherHook: (values) =>
    isWord(values.action) &&
    !isObject(values.build) &&
    (isHook(values) || (isObject(values.user) && !('sender' in values)))
      ? new OtherHookError('action', quoted(String(values.action)), 'an action of a build')
      : undefined,
  hooks: hookRules,
  api,
  variableMembers: ['params'],
} as const satisfies Forge
