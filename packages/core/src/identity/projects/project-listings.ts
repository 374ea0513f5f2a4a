import { z } from 'zod'
import { MAX_INTEGER } from '../../base/kit/common-fields.ts'
import { type Listed, listedEach } from '../../base/kit/listing.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import { visibilities } from '../../base/model/access-level.ts'
import { accessLevelInput } from '../../base/model/access-level-input.ts'
import type { Project } from '../../base/model/project.ts'
import { unscopedQuery } from '../../base/operations/operation.ts'
import { findGroup } from '../groups/group-store.ts'
import { findUserByUsername } from '../users/user-store.ts'
import { conditionsOfActor, enabledFeatures, type ProjectFilter, projectListing } from './project-list-store.ts'
import { projectListingOrders } from './project-order.ts'

const MAX_NAMED = 1_000
/** An id that no user has. */
const NO_USER_ID = 0

/** Lists the projects of all namespaces that the actor may see. */
export const browseProjects = unscopedQuery(
  {
    name: 'browseProjects',
    caller: 'anyone',
    input: z.object({
      ids: z.array(z.int()).max(MAX_NAMED).optional(),
      fullPaths: z.array(z.string().max(1_024)).max(MAX_NAMED).optional(),
      search: z.string().max(255).optional(),
      searchNamespaces: z.boolean().optional(),
      membership: z.boolean().optional(),
      /** Limits the list to the actor's own namespace. */
      personal: z.boolean().optional(),
      /** Limits the list to projects directly in this namespace. */
      namespacePath: z.string().max(1_024).optional(),
      /** Selects projects with all of these topics. */
      topics: z.array(z.string().max(255)).max(100).optional(),
      minAccessLevel: accessLevelInput.optional(),
      visibility: z.enum(visibilities).optional(),
      archived: z.boolean().optional(),
      withIssuesEnabled: z.boolean().optional(),
      withMergeRequestsEnabled: z.boolean().optional(),
      orderBy: z.enum(projectListingOrders).default('id'),
      sort: z.enum(['asc', 'desc']).default('desc'),
    }),
  },
  async (context, input): Promise<Listed<Project>> => {
    const { actor } = context
    const place = input.namespacePath === undefined ? {} : await namespaceFilter(context, input.namespacePath)
    const owner = input.personal ? (actor?.id ?? NO_USER_ID) : undefined
    const isEmpty =
      place === undefined || (owner !== undefined && place.ownerId !== undefined && place.ownerId !== owner)
    const filter: ProjectFilter = {
      ...place,
      ...(owner !== undefined && { ownerId: owner }),
      // PostgreSQL fails when an `integer` column is compared with a higher value.
      ids: isEmpty ? [] : input.ids?.filter((id) => id <= MAX_INTEGER),
      fullPaths: input.fullPaths,
      search: input.search || undefined,
      searchesNamespaces: input.searchNamespaces,
      visibility: input.visibility,
      isArchived: input.archived,
      topics: input.topics,
      features: enabledFeatures(input),
      where: conditionsOfActor(context, actor, input),
    }
    return listedEach(projectListing(context, [filter], { by: input.orderBy, direction: input.sort }), 1)[0]!
  },
)

/** Returns the filter for a namespace, or `undefined` if no group or user has the path. */
async function namespaceFilter(
  context: ReadContext,
  path: string,
): Promise<Pick<ProjectFilter, 'within' | 'ownerId'> | undefined> {
  const group = await findGroup(context, path)
  if (group !== undefined) return { within: { group, depth: 'direct' } }
  const user = await findUserByUsername(context, path)
  return user && { ownerId: user.id }
}
