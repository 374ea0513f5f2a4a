import { type DeployedEnvironment, type Environment, environmentFields, type ShownEnvironment } from '@penstock/core'
import { z } from 'zod'
import { jsonShape, type Member, member, membersOf, pick } from '../../routing/json-shape.ts'
import { deploymentShape } from './deployment-shape.ts'
import { simpleProjectShape } from './project-shape.ts'

const plain = membersOf(environmentFields)
const noCluster = member<Environment>(z.null(), () => null)

const members = {
  ...pick(plain, 'id', 'name', 'slug', 'description', 'externalUrl', 'state', 'tier', 'createdAt', 'updatedAt'),
  clusterAgent: noCluster,
  kubernetesNamespace: noCluster,
  fluxResourcePath: noCluster,
  // The records of jobs do not say when an environment stops by itself.
  autoStopAt: noCluster,
  ...pick(plain, 'autoStopSetting'),
  project: member<ShownEnvironment>(simpleProjectShape.schema, ({ projectView }, context) =>
    simpleProjectShape.of(projectView, context),
  ),
}

export const environmentShape = jsonShape<ShownEnvironment>('Environment', members)

export const deployedEnvironmentShape = jsonShape<DeployedEnvironment>('DeployedEnvironment', {
  ...(members as Readonly<Record<string, Member<DeployedEnvironment>>>),
  lastDeployment: member(deploymentShape.schema.nullable(), ({ lastDeployment }, context) =>
    lastDeployment === undefined ? null : deploymentShape.of(lastDeployment, context),
  ),
})
