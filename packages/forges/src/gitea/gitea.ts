import { type ActionsReader, actionsBodies, bundle } from '../actions/bodies.ts'
import { readJob } from '../actions/jobs.ts'
import { readGiteaRepository } from '../actions/owners.ts'
import { readWorkflowJob } from '../actions/running-job.ts'
import { withoutCopiedStatus } from '../actions/steps.ts'
import type { Fields } from '../body/fields.ts'
import type { Forge } from '../forge/forge.ts'
import type { JobRecord } from '../record/pipeline-record.ts'
import { hookApi } from './hook-api.ts'
import { hookRules } from './hook-rules.ts'
import { api } from './rest-api.ts'
import { readRun } from './run.ts'

/**
 * Reads a job. Before version 1.27, a job that runs again keeps its id and its creation time, so that the time in the queue is
 * unknown.
 */
function readGiteaJob(fields: Fields): JobRecord {
  const job = readJob(fields)
  const steps = withoutCopiedStatus(job.steps, job.status)
  const isLater = job.attempt !== undefined && job.attempt > 1
  return isLater ? { ...job, steps, createdAtNs: undefined, queuedSeconds: undefined } : { ...job, steps }
}

const reader: ActionsReader = {
  forge: 'gitea',
  readRun,
  readJob: readGiteaJob,
  readRepository: readGiteaRepository,
}

export const gitea = {
  expected: `a workflow_run or workflow_job hook or ${bundle} of Gitea`,
  bodies: actionsBodies(reader),
  nearMisses: [],
  otherHook: () => undefined,
  hooks: hookRules,
  api,
  hookApi,
  readRunningJob: (variables, jobId) => readWorkflowJob(variables, jobId, reader),
} as const satisfies Forge
