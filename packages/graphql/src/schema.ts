import type { CoreSettings } from '@penstock/core'
import SchemaBuilder from '@pothos/core'
import { type GraphQLSchema, isListType, isObjectType } from 'graphql'
import { addAbsentFeatures } from './areas/absent-features.ts'
import { addCiVariables } from './areas/ci/ci-variables.ts'
import { addDetailedStatus } from './areas/ci/detailed-status.ts'
import { addJobLists } from './areas/ci/job-lists.ts'
import { addJobs } from './areas/ci/jobs.ts'
import { addPipelineLists } from './areas/ci/pipeline-lists.ts'
import { addPipelineMutations } from './areas/ci/pipeline-mutations.ts'
import { addPipelines } from './areas/ci/pipelines.ts'
import { addRunner } from './areas/ci/runner.ts'
import { addStages } from './areas/ci/stages.ts'
import { addGeoNodes } from './areas/geo-nodes.ts'
import { addInstance } from './areas/instance.ts'
import { addIssues } from './areas/issues/issues.ts'
import { addLabels } from './areas/issues/labels.ts'
import { addMilestones } from './areas/issues/milestones.ts'
import { addMergeRequests } from './areas/merge-requests/merge-requests.ts'
import { addAccessLevels } from './areas/namespaces/access-levels.ts'
import { addAutocompleteUsers } from './areas/namespaces/autocomplete-users.ts'
import { addFeatureLevels } from './areas/namespaces/feature-levels.ts'
import { addGroupMutations } from './areas/namespaces/group-mutations.ts'
import { addGroups } from './areas/namespaces/groups.ts'
import { addMembers } from './areas/namespaces/members.ts'
import { addNamespaces } from './areas/namespaces/namespaces.ts'
import { addProjectPermissions } from './areas/namespaces/project-permissions.ts'
import { addProjects } from './areas/namespaces/projects.ts'
import { addReleases } from './areas/releases.ts'
import { addCommits } from './areas/repository/commits.ts'
import { addRepository } from './areas/repository/repository.ts'
import { addSnippets } from './areas/snippets/snippets.ts'
import { addUsers } from './areas/users/users.ts'
import { addWebhooks } from './areas/webhooks.ts'
import { addWikiPages } from './areas/wiki-pages.ts'
import { withDeadline } from './request/deadline.ts'
import { withItemBudget } from './request/item-budget.ts'
import { Connections } from './schema/connections.ts'
import { directives } from './schema/directives.ts'
import { GlobalIds } from './schema/global-id.ts'
import type { Kit } from './schema/kit.ts'
import { refuseArguments } from './schema/refused-arguments.ts'
import { scalarsOf } from './schema/scalars.ts'
import type { SchemaTypes } from './schema/schema-types.ts'
import type {} from './schema/sources.ts'
import { webAddressOf } from './schema/web-address.ts'

/** The areas, in any order: the printed schema is sorted. */
const areas: readonly ((kit: Kit) => void)[] = [
  addInstance,
  addAccessLevels,
  addUsers,
  addNamespaces,
  addGroups,
  addGroupMutations,
  addMembers,
  addProjects,
  addProjectPermissions,
  addFeatureLevels,
  addAutocompleteUsers,
  addRepository,
  addCommits,
  addSnippets,
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
  addWikiPages,
  addWebhooks,
  addReleases,
  addGeoNodes,
  addAbsentFeatures,
]

/** Creates the schema for a service with the given name and address. */
export function createSchema(settings: Pick<CoreSettings, 'serviceName' | 'externalUrl'>): GraphQLSchema {
  const globalIds = new GlobalIds(settings.serviceName)
  const builder = new SchemaBuilder<SchemaTypes>({})
  for (const scalar of scalarsOf(globalIds)) builder.addScalarType(scalar.name as 'Time', scalar)
  builder.queryType({})
  builder.mutationType({})
  const connections = new Connections(builder)
  const kit: Kit = { builder, globalIds, settings, connections, web: webAddressOf(settings) }
  for (const area of areas) area(kit)
  const schema = builder.toSchema({ directives, sortSchema: false })
  refuseArguments(schema)
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
