import { z } from 'zod'
import { requirePermission } from '../../base/access/subject.ts'
import { never } from '../../base/kit/conditions.ts'
import { type Listed, listedEach } from '../../base/kit/listing.ts'
import { visibilities } from '../../base/model/access-level.ts'
import type { Group } from '../../base/model/group.ts'
import { batchQuery, unscopedBatchQuery, unscopedQuery } from '../../base/operations/operation.ts'
import { conditionsOfActor, type GroupFilter, groupListing, groupListingOrders } from '../groups/group-list-store.ts'
import { getGroup } from '../groups/group-store.ts'
import { findVisibleGroups } from '../projects/project-view-store.ts'

const listInput = {
  ids: z.array(z.int()).max(100).optional(),
  search: z.string().max(255).optional(),
  owned: z.boolean().optional(),
  /** `true` yields an empty list, because groups cannot be archived. */
  archived: z.boolean().optional(),
  orderBy: z.enum(groupListingOrders).default('name'),
  sort: z.enum(['asc', 'desc']).default('asc'),
}

/** Lists the groups that the actor may see. */
export const browseGroups = unscopedQuery(
  {
    name: 'browseGroups',
    caller: 'anyone',
    input: z.object({
      ...listInput,
      topLevelOnly: z.boolean().optional(),
      allAvailable: z.boolean().optional(),
      /** Selects the groups directly in this group, or all below it if `includeSubgroups`. */
      parentPath: z.string().max(1_024).optional(),
      includeSubgroups: z.boolean().default(false),
      visibility: z.enum(visibilities).optional(),
    }),
  },
  async (context, { parentPath, includeSubgroups, orderBy, sort, ...input }): Promise<Listed<Group>> => {
    const parent = parentPath === undefined ? undefined : await getGroup(context, parentPath)
    if (parent !== undefined) await requirePermission(context, parent, 'read_group')
    const filter: GroupFilter = {
      ...(parent !== undefined && { within: { group: parent, depth: includeSubgroups ? 'any' : 'direct' } }),
      isTopLevel: input.topLevelOnly,
      ids: input.ids,
      search: input.search || undefined,
      visibility: input.visibility,
      where: [...conditionsOfActor(context, context.actor, input), ...(input.archived ? [never] : [])],
    }
    return listedEach(groupListing(context, [filter], { by: orderBy, direction: sort }), 1)[0]!
  },
)

/** Lists the groups below each of the groups. */
export const listGroupsBelowEach = batchQuery(
  {
    name: 'listGroupsBelowEach',
    input: z.object({ ...listInput, depth: z.enum(['direct', 'any']).default('any') }),
    permission: 'read_group',
  },
  async (context, groups: readonly Group[], { depth, ids, search, archived, owned, orderBy, sort }) => {
    const where = [...conditionsOfActor(context, context.actor, { owned }), ...(archived ? [never] : [])]
    const filters = groups.map(
      (group): GroupFilter => ({ within: { group, depth }, ids, search: search || undefined, where }),
    )
    return listedEach(groupListing(context, filters, { by: orderBy, direction: sort }), groups.length)
  },
)

/** Finds groups by id; `undefined` for those that the actor may not see. */
export const findEachGroup = unscopedBatchQuery(
  { name: 'findEachGroup', input: z.object({}) },
  async (context, ids: readonly number[]): Promise<(Group | undefined)[]> => {
    const found = await findVisibleGroups(context, context.actor, ids)
    return ids.map((id) => found.get(id))
  },
)
