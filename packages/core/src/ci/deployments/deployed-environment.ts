import { notFound } from '../../base/kit/domain-error.ts'
import { query } from '../../base/operations/operation.ts'
import { getProject } from '../../identity/projects/project-store.ts'
import { viewOf } from '../../identity/projects/project-view-store.ts'
import { lastDeployments } from '../environments/deployment-store.ts'
import { environmentInput, type ShownEnvironment } from '../environments/environment.ts'
import { findEnvironment } from '../environments/environment-store.ts'
import { type Deployment, shownDeployments } from './shown-deployment.ts'

/** An environment with its newest successful deployment. */
export interface DeployedEnvironment extends ShownEnvironment {
  readonly lastDeployment: Deployment | undefined
}

export const getEnvironment = query(
  {
    name: 'getEnvironment',
    input: environmentInput,
    permission: 'read_environment',
    subject: (context, { project }) => getProject(context, project),
  },
  async (context, { environmentId }): Promise<DeployedEnvironment> => {
    const environment = await findEnvironment(context, context.subject, environmentId)
    if (environment === undefined) throw notFound()
    const last = (await lastDeployments(context, [environment.id])).get(environment.id)
    const [lastDeployment] = last === undefined ? [] : await shownDeployments(context, [last])
    const projectView = await viewOf(context, context.actor, context.subject)
    return { ...environment, projectView, lastDeployment }
  },
)
