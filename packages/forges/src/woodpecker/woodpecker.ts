import type { JsonObject } from '../body/fields.ts'
import { has } from '../body/shape.ts'
import { bearerRules } from '../forge/bearer-token.ts'
import type { Forge } from '../forge/forge.ts'
import { pipelinePayload } from './payload.ts'
import { api } from './rest-api.ts'
import { readPipeline } from './run.ts'

const isPipeline = (values: JsonObject): boolean => has(values, 'id', 'number', 'status', 'event', 'commit', 'parent')

export const woodpecker = {
  expected: 'a pipeline of Woodpecker with its workflows',
  bodies: [
    {
      kind: 'Woodpecker pipeline',
      matches: (values) => isPipeline(values) && Array.isArray(values.workflows),
      read: (fields, receivedAtNs) => ({ kind: 'pipeline', record: readPipeline(fields, receivedAtNs) }),
      payload: pipelinePayload,
    },
  ],
  nearMisses: [
    {
      name: 'Woodpecker',
      matches: (values) => isPipeline(values) && !('workflows' in values),
      advice: () =>
        'is a pipeline in the format of Woodpecker without its workflows; give the answer for this pipeline alone',
    },
  ],
  otherHook: () => undefined,
  hooks: bearerRules,
  api,
} as const satisfies Forge
