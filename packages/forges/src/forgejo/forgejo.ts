import { bundlePayload, forgejoJobPaths, forgejoPaths, runHookPayload } from '../actions/payload.ts'
import { isForgejoRun } from '../actions/signatures.ts'
import { isObject, requiredSection } from '../body/fields.ts'
import { hasAny } from '../body/shape.ts'
import { actionsPart } from '../forge/foreign-bodies.ts'
import type { Forge } from '../forge/forge.ts'
import { hookApi } from './hook-api.ts'
import { hookRules } from './hook-rules.ts'
import { api } from './rest-api.ts'
import { readJobs, readRun } from './run.ts'
import { readRunningJob } from './running-job.ts'

const isRun = (run: unknown): boolean => isObject(run) && isForgejoRun(run)

export const forgejo = {
  expected: 'an action_run hook or { run, jobs } of Forgejo',
  bodies: [
    {
      kind: 'forgejo run',
      matches: (values) => isRun(values.run) && hasAny(values, 'action', 'prior_status') && !('jobs' in values),
      read: (hook, receivedAtNs) => {
        const run = readRun(requiredSection(hook, 'run'))
        return { kind: 'pipeline', record: { ...run, jobs: [], jobsUnknown: true, receivedAtNs } }
      },
      payload: runHookPayload('run', forgejoPaths),
    },
    {
      kind: 'forgejo bundle',
      matches: (values) => isRun(values.run) && (Array.isArray(values.jobs) || isObject(values.jobs)),
      read: (fields, receivedAtNs) => {
        const run = readRun(requiredSection(fields, 'run'))
        return { kind: 'pipeline', record: { ...run, ...readJobs(fields), receivedAtNs } }
      },
      payload: bundlePayload(forgejoPaths, forgejoJobPaths),
    },
  ],
  nearMisses: [
    {
      name: 'Forgejo run',
      matches: (values) => actionsPart(values) === 'forgejo run',
      advice: () =>
        'is a run of Forgejo without its jobs: give { run, jobs }, with the answer of …/actions/runs/ID/jobs as jobs',
    },
    {
      name: 'Forgejo run without jobs',
      matches: (values) => isRun(values.run) && !hasAny(values, 'action', 'prior_status', 'jobs'),
      advice: () => 'is a run of Forgejo without its jobs: add the answer of …/actions/runs/ID/jobs as jobs',
    },
    {
      name: 'Forgejo job',
      matches: (values) => actionsPart(values) === 'forgejo job',
      advice: () => 'is a job of Forgejo without its run: give { run, jobs }',
    },
  ],
  otherHook: () => undefined,
  hooks: hookRules,
  api,
  hookApi,
  readRunningJob,
} as const satisfies Forge
