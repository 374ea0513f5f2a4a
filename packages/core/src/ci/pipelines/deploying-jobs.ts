import type { DeploymentStatus } from '../environments/deployment.ts'
import { type EnvironmentTier, environmentTiers, isEnvironmentName } from '../environments/environment.ts'
import type { Job } from './pipeline.ts'
import { type PipelineStatus, pipelineStatuses } from './pipeline-status.ts'

/** The limit of jobs with an environment that are used of one record. */
const MAX_DEPLOYING_JOBS = 500

/** A job of a record that names an environment. */
export interface DeployingJob {
  readonly jobId: number
  readonly status: string
  readonly environment: string
  /** A job without an action deploys. The other actions need the environment, and do not change it. */
  readonly action: 'deploy' | 'stop' | 'other'
  readonly tier: EnvironmentTier | undefined
  readonly createdAtMs: number | undefined
  readonly finishedAtMs: number | undefined
}

const actions: ReadonlyMap<string | undefined, DeployingJob['action']> = new Map([
  [undefined, 'deploy'],
  ['start', 'deploy'],
  ['stop', 'stop'],
])

/** Returns the jobs that name an environment which can exist, in the order of their ids. */
export function deployingJobsOf(jobs: readonly Job[]): DeployingJob[] {
  const deploying = jobs.flatMap(({ id: jobId, status, environment, createdAtMs, finishedAtMs }): DeployingJob[] => {
    const name = environment?.name
    if (name === undefined || !isEnvironmentName(name)) return []
    const tier = environmentTiers.find((each) => each === environment?.deploymentTier)
    const action = actions.get(environment?.action) ?? 'other'
    return [{ jobId, status, environment: name, action, tier, createdAtMs, finishedAtMs }]
  })
  return deploying.slice(0, MAX_DEPLOYING_JOBS)
}

/** The status of a deployment by that of its job. A job with another status has not started. */
const statusOfJob = {
  created: 'created',
  waiting_for_resource: 'created',
  preparing: 'created',
  waiting_for_callback: 'created',
  pending: 'created',
  manual: 'created',
  scheduled: 'created',
  running: 'running',
  success: 'success',
  failed: 'failed',
  canceling: 'canceled',
  canceled: 'canceled',
  skipped: 'skipped',
} as const satisfies Record<PipelineStatus, DeploymentStatus>

export const deploymentStatusOf = (status: string): DeploymentStatus =>
  statusOfJob[pipelineStatuses.find((each) => each === status) ?? 'created']
