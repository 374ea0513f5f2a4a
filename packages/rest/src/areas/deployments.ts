import { createDeployment, getDeployment, listDeployments, removeDeployment, updateDeployment } from '@penstock/core'
import { type Area, route } from '../routing/route.ts'
import { pagedList } from './parameters/lists.ts'
import { deploymentShape } from './shapes/deployment-shape.ts'

const names = { project: 'id' }
const deployments = '/projects/:id/deployments'
const one = `${deployments}/:deployment_id`

export const deploymentsArea: Area = {
  tag: 'Deployments',
  routes: [
    route({
      method: 'GET',
      path: deployments,
      operation: listDeployments,
      takesJobTokens: true,
      parameters: pagedList,
      names,
      shape: deploymentShape,
      refusal: (message) => `400 Bad request - ${message}`,
      summary: 'List the deployments of a project.',
    }),
    route({
      method: 'POST',
      path: deployments,
      operation: createDeployment,
      takesJobTokens: true,
      names,
      shape: deploymentShape,
      summary: 'Report a deployment. Its environment is created if it does not exist.',
    }),
    route({
      method: 'GET',
      path: one,
      operation: getDeployment,
      takesJobTokens: true,
      names,
      shape: deploymentShape,
      summary: 'Get a deployment.',
    }),
    route({
      method: 'PUT',
      path: one,
      operation: updateDeployment,
      takesJobTokens: true,
      names,
      shape: deploymentShape,
      summary: 'Change the status of a deployment that was reported.',
    }),
    route({
      method: 'DELETE',
      path: one,
      operation: removeDeployment,
      takesJobTokens: true,
      names,
      summary: 'Delete a deployment that is not running, and not the last one of its environment.',
    }),
  ],
}
