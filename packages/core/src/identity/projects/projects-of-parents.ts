import { z } from 'zod'
import { isVisibleProject } from '../../base/access/visible-store.ts'
import { type Listed, listedEach } from '../../base/kit/listing.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import type { Group } from '../../base/model/group.ts'
import type { Project } from '../../base/model/project.ts'
import type { User } from '../../base/model/user.ts'
import type { OperationContext } from '../../base/operations/context.ts'
import { batchQuery, unscopedBatchQuery } from '../../base/operations/operation.ts'
import { enabledFeatures, findVisibleProjects, type ProjectFilter, projectListing } from './project-list-store.ts'
import { projectListingOrders } from './project-order.ts'

const input = z.object({
  ids: z.array(z.int()).max(100).optional(),
  search: z.string().max(255).optional(),
  archived: z.boolean().optional(),
  withIssuesEnabled: z.boolean().optional(),
  withMergeRequestsEnabled: z.boolean().optional(),
  orderBy: z.enum(projectListingOrders).default('id'),
  sort: z.enum(['asc', 'desc']).default('desc'),
})

/** Lists the projects directly in each group, or anywhere below it. */
export const listProjectsOfEachGroup = batchQuery(
  {
    name: 'listProjectsOfEachGroup',
    input: input.extend({ includeSubgroups: z.boolean().default(false) }),
    permission: 'read_group',
  },
  async (context, groups: readonly Group[], { includeSubgroups, ...rest }) => {
    const depth = includeSubgroups ? 'any' : 'direct'
    return listProjectsIn(
      context,
      groups.map((group) => ({ within: { group, depth } })),
      rest,
    )
  },
)

/** Lists the projects in the namespace of each user. */
export const listProjectsOfEachUser = unscopedBatchQuery(
  { name: 'listProjectsOfEachUser', input },
  async (context, users: readonly User[], rest) =>
    listProjectsIn(
      context,
      users.map(({ id }) => ({ ownerId: id })),
      rest,
    ),
)

/** Returns the projects with these ids, and `undefined` for each one that the actor may not see. */
export const findEachProject = unscopedBatchQuery(
  { name: 'findEachProject', input: z.object({}) },
  async (context, ids: readonly number[]): Promise<(Project | undefined)[]> => {
    const found = await findVisibleProjects(context, context.actor, ids)
    return ids.map((id) => found.get(id))
  },
)

function listProjectsIn(
  context: OperationContext & ReadContext,
  places: readonly Pick<ProjectFilter, 'within' | 'ownerId'>[],
  { ids, search, archived, orderBy, sort, ...features }: z.output<typeof input>,
): Listed<Project>[] {
  const filter = { ids, search: search || undefined, isArchived: archived, features: enabledFeatures(features) }
  const where = [isVisibleProject(context, context.actor)]
  const filters = places.map((place) => ({ ...place, ...filter, where }))
  return listedEach(projectListing(context, filters, { by: orderBy, direction: sort }), places.length)
}
