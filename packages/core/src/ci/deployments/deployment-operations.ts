import { DomainError, forbidden, invalid, notFound } from '../../base/kit/domain-error.ts'
import { validate } from '../../base/kit/field-table.ts'
import type { Page } from '../../base/kit/page.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import type { Project, ProjectRef } from '../../base/model/project.ts'
import type { InProject } from '../../base/operations/context.ts'
import { command, query, steps } from '../../base/operations/operation.ts'
import { recordChange } from '../../base/operations/record-change.ts'
import { getProject } from '../../identity/projects/project-store.ts'
import { addEnvironment, startEnvironment, writeToEnvironments } from '../environments/change-environment.ts'
import {
  createDeploymentInput,
  type DeploymentRecord,
  deploymentEvents,
  deploymentInput,
  filterProblem,
  isFinished,
  listDeploymentsInput,
  type SettableStatus,
  transitions,
  updateDeploymentInput,
} from '../environments/deployment.ts'
import {
  deleteDeployment,
  findDeployment,
  insertDeployments,
  lastDeployments,
  pageOfDeployments,
  setDeploymentStatus,
} from '../environments/deployment-store.ts'
import { environmentName } from '../environments/environment.ts'
import { environmentsById, environmentsByName } from '../environments/environment-store.ts'
import { type Deployment, shownDeployments } from './shown-deployment.ts'

const subject = (context: ReadContext, { project }: { readonly project: ProjectRef }) => getProject(context, project)
const reads = { permission: 'read_environment', subject } as const
const writes = { permission: 'write_environment', subject } as const

const refused = (message: string) => new DomainError({ code: 'refused', message })

export const listDeployments = query(
  { name: 'listDeployments', input: listDeploymentsInput, ...reads },
  async (context, filter): Promise<Page<Deployment>> => {
    const reason = filterProblem(filter)
    if (reason !== undefined) throw refused(reason)
    const page = await pageOfDeployments(context, context.subject, filter)
    return { ...page, items: await shownDeployments(context, page.items) }
  },
)

export const getDeployment = query(
  { name: 'getDeployment', input: deploymentInput, ...reads },
  async (context, { deploymentId }): Promise<Deployment> =>
    shownDeployment(context, await requireDeployment(context, context.subject, deploymentId)),
)

/**
 * Reports a deployment, and creates its environment if there is none with this name. Reporting again what the environment
 * runs already returns the same deployment.
 */
export const createDeployment = steps(
  { name: 'createDeployment', input: createDeploymentInput, ...writes },
  async (context, { environment: name, sha, ref, tag, status }): Promise<Deployment> => {
    validate(environmentName, { name })
    const deployment = await writeToEnvironments(context, async (tx, project) => {
      const environment =
        (await environmentsByName(tx, project, [name])).get(name) ?? (await addEnvironment(tx, project, { name }))
      const last = (await lastDeployments(tx, [environment.id])).get(environment.id)
      if (last?.sha === sha && last.ref === ref && last.isTag === tag && status === 'success') return last
      const draft = {
        environmentId: environment.id,
        jobKey: undefined,
        userId: tx.actor!.id,
        ref,
        sha,
        isTag: tag,
        status,
        finishedAtMs: isFinished(status) ? tx.nowMs : undefined,
        createdAtMs: tx.nowMs,
      }
      const [made] = await insertDeployments(tx, project.id, [draft])
      if (status === 'success') await startEnvironment(tx, environment)
      await recordChange(tx, deploymentEvents, 'created', { after: made!, projectId: project.id })
      return made!
    })
    return shownDeployment(context, deployment)
  },
)

/** Changes the status of a deployment that a program reported. That of a recorded job follows the job. */
export const updateDeployment = steps(
  { name: 'updateDeployment', input: updateDeploymentInput, ...writes },
  async (context, { deploymentId, status }): Promise<Deployment> => {
    const deployment = await writeToEnvironments(context, async (tx, project) => {
      const before = await requireDeployment(tx, project, deploymentId)
      if (before.jobKey !== undefined) throw forbidden('The status of a recorded job cannot be changed')
      requireTransition(before, status)
      const finishedAtMs = isFinished(status) ? tx.nowMs : undefined
      const after = await setDeploymentStatus(tx, { id: before.id, status, finishedAtMs })
      if (status === 'success') {
        const environment = (await environmentsById(tx, [after.environmentId])).get(after.environmentId)!
        await startEnvironment(tx, environment)
      }
      await recordChange(tx, deploymentEvents, 'updated', { before, after, projectId: project.id })
      return after
    })
    return shownDeployment(context, deployment)
  },
)

export const removeDeployment = command(
  { name: 'removeDeployment', input: deploymentInput, permission: 'remove_deployment', subject, isConditional: true },
  async (tx, { deploymentId }) => {
    const deployment = await requireDeployment(tx, tx.subject, deploymentId)
    tx.requireUnmodified(deployment.updatedAtMs)
    if (deployment.status === 'running') throw refused('Cannot destroy running deployment')
    const { environmentId } = deployment
    const last = (await lastDeployments(tx, [environmentId])).get(environmentId)
    if (last?.id === deployment.id) throw refused('Deployment currently deployed to environment')
    await deleteDeployment(tx, deployment.id)
    await recordChange(tx, deploymentEvents, 'removed', { before: deployment, projectId: tx.subject.id })
  },
)

async function requireDeployment(context: ReadContext, project: Project, id: number): Promise<DeploymentRecord> {
  const deployment = await findDeployment(context, project, id)
  if (deployment === undefined) throw notFound()
  return deployment
}

/** A finished deployment may get another final status, but a deployment starts only once. @throws DomainError `invalid` */
function requireTransition({ status: former }: DeploymentRecord, status: SettableStatus): void {
  const isPossible = status === 'running' ? former === 'created' : former !== status
  if (!isPossible) throw invalid({ status: [`cannot transition via "${transitions[status]}"`] })
}

async function shownDeployment(context: InProject, deployment: DeploymentRecord): Promise<Deployment> {
  const [shown] = await shownDeployments(context, [deployment])
  // The environment was deleted in between, and the deployment with it.
  if (shown === undefined) throw notFound()
  return shown
}
