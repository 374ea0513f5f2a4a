import {
  createEnvironment,
  getEnvironment,
  listEnvironments,
  type ReviewAppDeletion,
  removeEnvironment,
  removeReviewApps,
  stopEnvironment,
  stopStaleEnvironments,
  updateEnvironment,
} from '@penstock/core'
import { z } from 'zod'
import { jsonShape, member } from '../routing/json-shape.ts'
import { type Area, type RouteParameters, route } from '../routing/route.ts'
import { orderedList } from './parameters/lists.ts'
import { basicEnvironmentShape } from './shapes/deployment-shape.ts'
import { deployedEnvironmentShape, environmentShape } from './shapes/environment-shape.ts'

const names = { project: 'id' }
const environments = '/projects/:id/environments'
const one = `${environments}/:environment_id`

const noCluster = 'there are no agents for Kubernetes'
const settings = {
  stored: ['auto_stop_setting'],
  refused: { cluster_agent_id: noCluster, kubernetes_namespace: noCluster, flux_resource_path: noCluster },
} satisfies RouteParameters

const stoppedShape = jsonShape<{ readonly stopped: number }>('StaleEnvironments', {
  message: member(z.string(), () => 'Successfully scheduled stale environments to stop'),
})
const deletionShape = jsonShape<ReviewAppDeletion>('ReviewAppDeletion', {
  scheduledEntries: member(z.array(basicEnvironmentShape.schema), ({ scheduled }, context) =>
    scheduled.map((environment) => basicEnvironmentShape.of(environment, context)),
  ),
  // The caller may delete all environments of the project, or none.
  unprocessableEntries: member(z.array(basicEnvironmentShape.schema), () => []),
})

export const environmentsArea: Area = {
  tag: 'Environments',
  routes: [
    route({
      method: 'GET',
      path: environments,
      operation: listEnvironments,
      takesJobTokens: true,
      parameters: orderedList,
      names,
      shape: environmentShape,
      refusal: (message) => `400 Bad request - ${message}`,
      summary: 'List the environments of a project, by name.',
    }),
    route({
      method: 'POST',
      path: environments,
      operation: createEnvironment,
      takesJobTokens: true,
      parameters: settings,
      names,
      shape: environmentShape,
      summary: 'Create an environment.',
    }),
    route({
      method: 'POST',
      path: `${environments}/stop_stale`,
      operation: stopStaleEnvironments,
      takesJobTokens: true,
      status: 200,
      names,
      shape: stoppedShape,
      refusal: (message) => `400 Bad request - ${message}`,
      summary: 'Stop the environments that were not changed, and not deployed to, since a time.',
    }),
    route({
      method: 'DELETE',
      path: `${environments}/review_apps`,
      operation: removeReviewApps,
      takesJobTokens: true,
      names,
      shape: deletionShape,
      summary: 'Delete stopped environments below `review/` in a week, unless it is a dry run.',
    }),
    route({
      method: 'GET',
      path: one,
      operation: getEnvironment,
      takesJobTokens: true,
      names,
      shape: deployedEnvironmentShape,
      summary: 'Get an environment, with its last successful deployment.',
    }),
    route({
      method: 'PUT',
      path: one,
      operation: updateEnvironment,
      takesJobTokens: true,
      parameters: {
        ...settings,
        refused: { ...settings.refused, name: 'jobs name their environment, so that it cannot get another name' },
      },
      names,
      shape: environmentShape,
      summary: 'Update an environment.',
    }),
    route({
      method: 'DELETE',
      path: one,
      operation: removeEnvironment,
      takesJobTokens: true,
      names,
      summary: 'Delete a stopped environment with its deployments.',
    }),
    route({
      method: 'POST',
      path: `${one}/stop`,
      operation: stopEnvironment,
      takesJobTokens: true,
      parameters: { noEffect: { force: 'no job runs when an environment stops' } },
      status: 200,
      names,
      shape: environmentShape,
      summary: 'Stop an environment.',
    }),
  ],
}
