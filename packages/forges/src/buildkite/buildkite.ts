import { isObject, type JsonObject, quoted } from '../body/fields.ts'
import { has, isWord } from '../body/shape.ts'
import type { Forge } from '../forge/forge.ts'
import { OtherHookError } from '../record/record-error.ts'
import { hookRules } from './hook-rules.ts'
import { buildPayload, hookPayload } from './payload.ts'
import { api } from './rest-api.ts'
import { readBuild, readBuildHook, readJobHook } from './run.ts'
import { readRunningJob } from './running-job.ts'

/** Returns whether a body is a build of the REST API, which lists its jobs in some answers only. */
const isBuild = (values: JsonObject): boolean => isWord(values.state) && has(values, 'id', 'number', 'commit', 'branch')

export const buildkite = {
  expected: 'a hook of Buildkite or a build with its jobs',
  bodies: [
    {
      kind: 'Buildkite build hook',
      matches: ({ event, build, job }) => event === 'build.finished' && isObject(build) && job === undefined,
      read: (fields, receivedAtNs) => ({ kind: 'pipeline', record: readBuildHook(fields, receivedAtNs) }),
      payload: hookPayload,
    },
    {
      kind: 'Buildkite job hook',
      matches: ({ event, build, job }) => event === 'job.finished' && isObject(build) && isObject(job),
      read: (fields, receivedAtNs) => ({ kind: 'job', event: readJobHook(fields, receivedAtNs) }),
    },
    {
      kind: 'Buildkite build',
      matches: (values) => isBuild(values) && Array.isArray(values.jobs),
      read: (fields, receivedAtNs) => ({ kind: 'pipeline', record: readBuild(fields, receivedAtNs) }),
      payload: buildPayload,
    },
  ],
  nearMisses: [
    {
      name: 'Buildkite',
      matches: (values) => isBuild(values) && !('jobs' in values),
      advice: () => 'is a build in the format of Buildkite without its jobs; give the answer for this build alone',
    },
  ],
  // Hooks of all other events of builds, jobs and agents, and `ping`.
  otherHook: ({ event, sender }) =>
    isWord(event) && isObject(sender) && !hookRules.recordEvents.includes(event)
      ? new OtherHookError('event', quoted(event), 'build.finished or job.finished')
      : undefined,
  hooks: hookRules,
  api,
  variableMembers: ['env', 'meta_data'],
  readRunningJob,
} as const satisfies Forge
