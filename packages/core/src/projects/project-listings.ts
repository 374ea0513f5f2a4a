import { z } from 'zod'
import { visibilities } from '../access/access-level.ts'
import { accessLevelInput } from '../access/access-level-input.ts'
import { findGroup } from '../groups/group-store.ts'
import type { ReadContext } from '../kit/context.ts'
import { type Listed, listedEach } from '../kit/listing.ts'
import { unscopedQuery } from '../kit/operation.ts'
import { findUserByUsername } from '../users/user-store.ts'
import type { Project } from './project.ts'
import { conditionsOfActor, type ProjectFilter, projectListing, projectListingOrders } from './project-list-store.ts'

const MAX_NAMED = 1_000
const NOBODY = 0
/** Of a column `integer`: PostgreSQL fails when asked for more. */
const MAX_ID = 2_147_483_647

/** Those that the actor may see, wherever they lie. @see spec/graphql-contract.md 5.4 */
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
      /** In the namespace of whoever asks. */
      personal: z.boolean().optional(),
      /** Directly in it. */
      namespacePath: z.string().max(1_024).optional(),
      /** No project has any yet. */
      topics: z.array(z.string().max(255)).max(100).optional(),
      minAccessLevel: accessLevelInput.optional(),
      visibility: z.enum(visibilities).optional(),
      archived: z.boolean().optional(),
      orderBy: z.enum(projectListingOrders).default('id'),
      sort: z.enum(['asc', 'desc']).default('desc'),
    }),
  },
  async (context, input): Promise<Listed<Project>> => {
    const { actor } = context
    const place = input.namespacePath === undefined ? {} : await placeAt(context, input.namespacePath)
    const owner = input.personal ? (actor?.id ?? NOBODY) : undefined
    const isNowhere =
      place === undefined || (owner !== undefined && place.ownerId !== undefined && place.ownerId !== owner)
    const filter: ProjectFilter = {
      ...place,
      ...(owner !== undefined && { ownerId: owner }),
      ids: isNowhere || input.topics?.length ? [] : input.ids?.filter((id) => id <= MAX_ID),
      fullPaths: input.fullPaths,
      search: input.search || undefined,
      searchesNamespaces: input.searchNamespaces,
      visibility: input.visibility,
      isArchived: input.archived,
      where: conditionsOfActor(context, actor, input),
    }
    return listedEach(projectListing(context, [filter], { by: input.orderBy, direction: input.sort }), 1)[0]!
  },
)

/** `undefined`: there is no group or user of that path. */
async function placeAt(
  context: ReadContext,
  path: string,
): Promise<Pick<ProjectFilter, 'within' | 'ownerId'> | undefined> {
  const group = await findGroup(context, path)
  if (group !== undefined) return { within: { group, depth: 'direct' } }
  const user = await findUserByUsername(context, path)
  return user && { ownerId: user.id }
}
