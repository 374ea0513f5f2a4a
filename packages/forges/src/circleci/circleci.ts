import { isObject, type JsonObject, quoted } from '../body/fields.ts'
import { isListAnswer } from '../body/list-answer.ts'
import { isWord } from '../body/shape.ts'
import { isCircleciPart } from '../forge/foreign-bodies.ts'
import type { Forge } from '../forge/forge.ts'
import { OtherHookError } from '../record/record-error.ts'
import { hookRules } from './hook-rules.ts'
import { bundlePayload, hookPayload } from './payload.ts'
import { api } from './rest-api.ts'
import { readBundle, readJobHook, readWorkflowHook } from './run.ts'
import { readRunningJob } from './running-job.ts'

const bundle = '{ pipeline, workflow, jobs }'

const isHook = ({ type, workflow, pipeline }: JsonObject): boolean =>
  isWord(type) && isObject(workflow) && isObject(pipeline)

export const circleci = {
  expected: `a hook of CircleCI or its ${bundle}`,
  bodies: [
    {
      kind: 'CircleCI workflow hook',
      matches: (values) => values.type === 'workflow-completed' && isHook(values),
      read: (fields, receivedAtNs) => ({ kind: 'pipeline', record: readWorkflowHook(fields, receivedAtNs) }),
      payload: hookPayload,
    },
    {
      kind: 'CircleCI job hook',
      matches: (values) => values.type === 'job-completed' && isHook(values) && isObject(values.job),
      read: (fields, receivedAtNs) => ({ kind: 'job', event: readJobHook(fields, receivedAtNs) }),
    },
    {
      kind: 'CircleCI bundle',
      matches: ({ pipeline, workflow, jobs, type }) =>
        isObject(pipeline) && isObject(workflow) && isListAnswer(jobs, 'items') && !isWord(type),
      read: (fields, receivedAtNs) => ({ kind: 'pipeline', record: readBundle(fields, receivedAtNs) }),
      payload: bundlePayload,
    },
  ],
  nearMisses: [
    {
      name: 'CircleCI',
      matches: isCircleciPart,
      advice: () => `is a part of a run in the format of CircleCI; give ${bundle}`,
    },
  ],
  // `ping` is sent to test a webhook.
  otherHook: (values) =>
    isWord(values.type) && isObject(values.webhook) && !hookRules.recordEvents.includes(values.type)
      ? new OtherHookError('type', quoted(values.type), 'workflow-completed or job-completed')
      : undefined,
  hooks: hookRules,
  api,
  readRunningJob,
} as const satisfies Forge
