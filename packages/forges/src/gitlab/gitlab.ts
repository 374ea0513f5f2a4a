import type { Forge } from '../forge/forge.ts'
import { bundle, otherHook, readableBodies } from './bodies.ts'
import { readRunningJob } from './ci-variables.ts'
import { hookApi } from './hook-api.ts'
import { hookRules } from './hook-rules.ts'
import { nearMisses } from './near-misses.ts'
import { api } from './rest-api.ts'
import { isRestJob } from './rest-jobs.ts'

export const gitlab = {
  expected: `a pipeline hook, a job hook or ${bundle}`,
  bodies: readableBodies,
  nearMisses,
  listAdvice: (list) =>
    list.some(isRestJob)
      ? `is a list of jobs of the REST API, not a pipeline: give it to penstock convert, or as ${bundle}`
      : undefined,
  otherHook,
  hooks: hookRules,
  api,
  hookApi,
  readRunningJob,
} as const satisfies Forge
