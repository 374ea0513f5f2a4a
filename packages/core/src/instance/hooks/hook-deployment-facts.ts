import { notFound } from '../../base/kit/domain-error.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import type { User } from '../../base/model/user.ts'
import { jobsByKey } from '../../ci/deployments/shown-deployment.ts'
import type { DeploymentRecord } from '../../ci/environments/deployment.ts'
import { deploymentById } from '../../ci/environments/deployment-store.ts'
import type { Environment } from '../../ci/environments/environment.ts'
import { environmentsById } from '../../ci/environments/environment-store.ts'
import type { JobOfPipeline } from '../../ci/pipelines/pipeline.ts'
import { findUser } from '../../identity/users/user-store.ts'

export interface DeploymentFacts {
  readonly deployment: DeploymentRecord
  readonly environment: Environment
  /** The recorded job, if there is one. */
  readonly job: JobOfPipeline | undefined
  /** The user who reported the deployment; missing for a recorded job. */
  readonly user: User | undefined
}

/** @throws DomainError `not_found` */
export async function readDeploymentFacts(context: ReadContext, id: number): Promise<DeploymentFacts> {
  const deployment = await deploymentById(context, id)
  if (deployment === undefined) throw notFound()
  const { environmentId, jobKey, userId } = deployment
  const environment = (await environmentsById(context, [environmentId])).get(environmentId)!
  const job = jobKey === undefined ? undefined : (await jobsByKey(context, [deployment])).get(jobKey)
  return { deployment, environment, job, user: userId === undefined ? undefined : await findUser(context, userId) }
}
