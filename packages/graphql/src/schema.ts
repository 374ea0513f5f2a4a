import type { CoreSettings } from '@penstock/core'
import SchemaBuilder from '@pothos/core'
import { type GraphQLSchema, isListType, isObjectType } from 'graphql'
import { addAccessLevels } from './access-levels.ts'
import { addCiVariables } from './ci-variables.ts'
import { addCommits } from './commits.ts'
import { connectionCounts } from './connection-counts.ts'
import { Connections } from './connection-field.ts'
import { withDeadline } from './deadline.ts'
import { addDetailedStatus } from './detailed-status.ts'
import { GlobalIds } from './global-id.ts'
import { addGroups } from './groups.ts'
import { addInstance } from './instance.ts'
import { addIssues } from './issues.ts'
import { withItemBudget } from './item-budget.ts'
import { addJobLists } from './job-lists.ts'
import { addJobs } from './jobs.ts'
import type { Kit } from './kit.ts'
import { addLabels } from './labels.ts'
import { addMembers } from './members.ts'
import { addMergeRequests } from './merge-requests.ts'
import { addMilestones } from './milestones.ts'
import { addNamespaces } from './namespaces.ts'
import { addPipelineLists } from './pipeline-lists.ts'
import { addPipelineMutations } from './pipeline-mutations.ts'
import { addPipelines } from './pipelines.ts'
import { addProjectPermissions } from './project-permissions.ts'
import { addProjects } from './projects.ts'
import { addRepository } from './repository.ts'
import { addRunner } from './runner.ts'
import { scalarsOf } from './scalars.ts'
import type { SchemaTypes } from './schema-types.ts'
import type {} from './sources.ts'
import { addStages } from './stages.ts'
import { addUsers } from './users.ts'
import { webAddressOf } from './web-address.ts'

/** The areas, in any order: the printed schema is sorted. */
const areas: readonly ((kit: Kit) => void)[] = [
  addInstance,
  addAccessLevels,
  addUsers,
  addNamespaces,
  addGroups,
  addMembers,
  addProjects,
  addProjectPermissions,
  addRepository,
  addCommits,
  addLabels,
  addDetailedStatus,
  addPipelines,
  addPipelineLists,
  addPipelineMutations,
  addStages,
  addJobs,
  addJobLists,
  addRunner,
  addCiVariables,
  addMergeRequests,
  addIssues,
  addMilestones,
]

/** Creates the schema for a service with the given name and address. */
export function createSchema(settings: Pick<CoreSettings, 'serviceName' | 'externalUrl'>): GraphQLSchema {
  const globalIds = new GlobalIds(settings.serviceName)
  const builder = new SchemaBuilder<SchemaTypes>({})
  for (const scalar of scalarsOf(globalIds)) builder.addScalarType(scalar.name as 'Time', scalar)
  builder.queryType({})
  builder.mutationType({})
  const connections = new Connections(builder, connectionCounts)
  const kit: Kit = { builder, globalIds, settings, connections, web: webAddressOf(settings) }
  for (const area of areas) area(kit)
  const schema = builder.toSchema()
  limitWork(schema)
  return schema
}

/** Adds the deadline to every resolver, and the item budget to every list. */
function limitWork(schema: GraphQLSchema): void {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || type.name.startsWith('__')) continue
    for (const field of Object.values(type.getFields())) {
      if (field.resolve === undefined) continue
      const resolve = isListType(field.type) ? withItemBudget(field.resolve) : field.resolve
      field.resolve = withDeadline(`${type.name}.${field.name}`, resolve)
    }
  }
}
