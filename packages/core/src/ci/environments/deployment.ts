import { z } from 'zod'
import { flag, id, int, type ObjectOf, oneOf, text, time } from '../../base/kit/field-table.ts'
import { pageInput } from '../../base/kit/page.ts'
import { instant, namespaceRef } from '../../base/kit/parameter-schemas.ts'
import { comparedFields, type RecordedKind } from '../../base/operations/record-change.ts'

/** `blocked` waits for an approval. Nothing here blocks, but lists can be filtered by it. */
export const deploymentStatuses = ['created', 'running', 'success', 'failed', 'canceled', 'skipped', 'blocked'] as const
export type DeploymentStatus = (typeof deploymentStatuses)[number]

/** The statuses that a caller sets, each with the name of its transition in error messages. */
export const transitions = { running: 'run', success: 'succeed', failed: 'drop', canceled: 'cancel' } as const
const settableStatuses = ['running', 'success', 'failed', 'canceled'] as const
export type SettableStatus = keyof typeof transitions

export const isFinished = (status: DeploymentStatus): boolean =>
  status === 'success' || status === 'failed' || status === 'canceled' || status === 'skipped'

export const deploymentFields = {
  id: id(),
  iid: int('iid'),
  projectId: int('project_id'),
  environmentId: int('environment_id'),
  /** The row of the recorded job; missing if a program reported the deployment, or the pipeline was deleted. */
  jobKey: int('job_key').optional(),
  /** The user who reported the deployment; missing for a recorded job, because its record names another user. */
  userId: int('user_id').optional(),
  /** Missing if the record of the job does not say it, like `sha`. */
  ref: text('ref').optional(),
  sha: text('sha').optional(),
  isTag: flag('is_tag'),
  status: oneOf('status', deploymentStatuses),
  finishedAtMs: time('finished_at_ms').optional(),
  createdAtMs: time('created_at_ms'),
  updatedAtMs: time('updated_at_ms'),
}

/** A deployment of a commit to an environment. */
export interface DeploymentRecord extends ObjectOf<typeof deploymentFields> {}

const deploymentOrders = ['id', 'iid', 'created_at', 'updated_at', 'finished_at', 'ref'] as const

export const listDeploymentsInput = z.object({
  project: namespaceRef,
  orderBy: z.enum(deploymentOrders).default('id'),
  sort: z.enum(['asc', 'desc']).default('asc'),
  updatedAfter: instant.optional(),
  updatedBefore: instant.optional(),
  finishedAfter: instant.optional(),
  finishedBefore: instant.optional(),
  environment: z.string().max(255).optional(),
  status: z.enum(deploymentStatuses).optional(),
  ...pageInput,
})
export type DeploymentFilter = z.output<typeof listDeploymentsInput>

/** Returns why these filters cannot be combined, if so. A list by time has to be ordered by that time. */
export function filterProblem(filter: DeploymentFilter): string | undefined {
  const byUpdate = filter.updatedAfter !== undefined || filter.updatedBefore !== undefined
  const byFinish = filter.finishedAfter !== undefined || filter.finishedBefore !== undefined
  if (byUpdate && byFinish) return 'Filters by `updated_at` and by `finished_at` cannot be combined'
  if (byFinish !== (filter.orderBy === 'finished_at')) {
    return 'A filter by `finished_at` and the order `finished_at` require each other'
  }
  if (byFinish && filter.status !== 'success') return 'A filter by `finished_at` requires the status `success`'
  return undefined
}

const one = { project: namespaceRef, deploymentId: z.int() }
export const deploymentInput = z.object(one)
export const createDeploymentInput = z.object({
  project: namespaceRef,
  environment: z.string().min(1),
  /** The commit need not be in the repository, because pipelines may deploy what another forge hosts. */
  sha: z.string().regex(/^[0-9a-f]{4,64}$/i),
  ref: z.string().min(1).max(1_024),
  tag: z.boolean(),
  status: z.enum(settableStatuses),
})
export const updateDeploymentInput = z.object({ ...one, status: z.enum(settableStatuses) })

export const deploymentEvents: RecordedKind<DeploymentRecord> = {
  noun: 'deployment',
  compared: comparedFields(deploymentFields),
  detailsOf: ({ environmentId, status }) => ({ environmentId, status }),
}
