import { isObject, type JsonObject } from '../body/fields.ts'
import { isListAnswer } from '../body/list-answer.ts'
import { bearerRules } from '../forge/bearer-token.ts'
import { isJenkinsPart } from '../forge/foreign-bodies.ts'
import type { Forge } from '../forge/forge.ts'
import { bundlePayload } from './payload.ts'
import { readBundle } from './run.ts'

const bundle = '{ build, stages }'

const hasStages = ({ stages }: JsonObject): boolean => stages === null || isListAnswer(stages, 'stages')

export const jenkins = {
  expected: `${bundle} of Jenkins`,
  bodies: [
    {
      kind: 'Jenkins bundle',
      matches: (values) => isObject(values.build) && hasStages(values) && !('timeline' in values),
      read: (fields, receivedAtNs) => ({ kind: 'pipeline', record: readBundle(fields, receivedAtNs) }),
      payload: bundlePayload,
    },
  ],
  nearMisses: [
    {
      name: 'Jenkins',
      matches: isJenkinsPart,
      advice: () => `is a part of a build in the format of Jenkins; give ${bundle}`,
    },
  ],
  otherHook: () => undefined,
  hooks: bearerRules,
  variableMembers: ['parameters'],
} as const satisfies Forge
