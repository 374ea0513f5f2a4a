import { isObject, type JsonObject, quoted } from '../body/fields.ts'
import { isListAnswer } from '../body/list-answer.ts'
import { isWord } from '../body/shape.ts'
import { isJenkinsPart } from '../forge/foreign-bodies.ts'
import type { Forge } from '../forge/forge.ts'
import { OtherHookError } from '../record/record-error.ts'
import { hookRules } from './hook-rules.ts'
import { readNotification } from './notification.ts'
import { bundlePayload, notificationPayload } from './payload.ts'
import { api } from './rest-api.ts'
import { readBundle } from './run.ts'
import { readRunningJob } from './running-job.ts'

const bundle = '{ build, stages }'
/** The phase after which nothing of a build changes. The plugin also reports the phases before it. */
const LAST_PHASE = 'FINALIZED'

/** Returns the phase of a body of the notification plugin. */
const notifiedPhase = ({ name, url, build }: JsonObject): string | undefined =>
  isWord(name) && isWord(url) && isObject(build) && isWord(build.phase) ? build.phase : undefined

const hasStages = ({ stages }: JsonObject): boolean => stages === null || isListAnswer(stages, 'stages')

export const jenkins = {
  expected: `a hook of Jenkins or its ${bundle}`,
  bodies: [
    {
      kind: 'Jenkins build hook',
      matches: (values) => notifiedPhase(values) === LAST_PHASE && !('stages' in values),
      read: (fields, receivedAtNs) => ({ kind: 'pipeline', record: readNotification(fields, receivedAtNs) }),
      payload: notificationPayload,
    },
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
  otherHook: (values) => {
    const phase = notifiedPhase(values)
    return phase === undefined || phase === LAST_PHASE
      ? undefined
      : new OtherHookError('build.phase', quoted(phase), LAST_PHASE)
  },
  hooks: hookRules,
  api,
  variableMembers: ['parameters'],
  readRunningJob,
} as const satisfies Forge
