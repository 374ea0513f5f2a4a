import { type ActionsReader, actionsBodies, bundle } from '../actions/bodies.ts'
import { readJob } from '../actions/jobs.ts'
import { readRepository } from '../actions/owners.ts'
import { readWorkflowJob } from '../actions/running-job.ts'
import { otherHook } from '../actions/signatures.ts'
import { type Fields, id, section, text } from '../body/fields.ts'
import type { Forge } from '../forge/forge.ts'
import type { EnvironmentRecord } from '../record/pipeline-record.ts'
import { hookApi } from './hook-api.ts'
import { hookRules } from './hook-rules.ts'
import { nearMisses } from './near-misses.ts'
import { api } from './rest-api.ts'
import { readRun } from './run.ts'

/** Reads the environment that a job deploys to. Only hooks contain it, beside the job. */
function readEnvironment(owner: Fields): EnvironmentRecord | undefined {
  const deployment = section(owner, 'deployment')
  const name = deployment && text(deployment, 'environment')
  if (deployment === undefined || name === undefined) return undefined
  return {
    name,
    action: undefined,
    deploymentTier: undefined,
    deployment: { id: id(deployment, 'id'), name: undefined },
  }
}

const reader: ActionsReader = {
  forge: 'github',
  readRun,
  readJob: (job, owner) => ({ ...readJob(job), environment: readEnvironment(owner) }),
  readRepository,
}

export const github = {
  expected: `a workflow_run or workflow_job hook or ${bundle}`,
  bodies: actionsBodies(reader),
  nearMisses,
  otherHook,
  hooks: hookRules,
  api,
  hookApi,
  readRunningJob: (variables, jobId) => readWorkflowJob(variables, jobId, reader),
} as const satisfies Forge
