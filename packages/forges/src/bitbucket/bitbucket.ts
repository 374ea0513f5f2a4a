import { isObject, type JsonObject } from '../body/fields.ts'
import { isListAnswer } from '../body/list-answer.ts'
import { has, isWord } from '../body/shape.ts'
import type { Forge } from '../forge/forge.ts'
import { OtherHookError } from '../record/record-error.ts'
import { hookRules } from './hook-rules.ts'
import { bundlePayload } from './payload.ts'
import { api } from './rest-api.ts'
import { readBundle } from './run.ts'
import { readRunningJob } from './running-job.ts'

const bundle = '{ pipeline, steps }'

/** Returns whether a value is a pipeline or a step of the REST API. */
const isPart = (value: unknown): boolean => isObject(value) && isWord(value.uuid) && isObject(value.state)

/** The objects at the top level of hooks, other than the repository and the user. */
const hookObjects = ['commit_status', 'push', 'pullrequest', 'issue', 'fork', 'changes']

const isHook = (values: JsonObject): boolean =>
  has(values, 'repository', 'actor') && hookObjects.some((name) => isObject(values[name]))

export const bitbucket = {
  expected: `${bundle} of Bitbucket`,
  bodies: [
    {
      kind: 'Bitbucket bundle',
      matches: ({ pipeline, steps }) => isPart(pipeline) && isListAnswer(steps, 'values'),
      read: (fields, receivedAtNs) => ({ kind: 'pipeline', record: readBundle(fields, receivedAtNs) }),
      payload: bundlePayload,
    },
  ],
  nearMisses: [
    {
      name: 'Bitbucket',
      matches: (values) => isPart(values) || (isPart(values.pipeline) && !('steps' in values)),
      advice: () => `is a part of a pipeline in the format of Bitbucket; give ${bundle}`,
    },
  ],
  otherHook: (values) =>
    isHook(values)
      ? new OtherHookError('', hookObjects.find((name) => isObject(values[name])) ?? 'another hook', bundle)
      : undefined,
  hooks: hookRules,
  api,
  readRunningJob,
} as const satisfies Forge
