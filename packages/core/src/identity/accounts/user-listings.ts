import { z } from 'zod'
import { requirePermission } from '../../base/access/subject.ts'
import {
  hasDirectRoleInGroup,
  hasLevelInProject,
  isVisibleGroup,
  isVisibleProject,
  mayCreateProjects,
} from '../../base/access/visible-store.ts'
import { forbidden, notFound } from '../../base/kit/domain-error.ts'
import { type Listed, listedEach } from '../../base/kit/listing.ts'
import { accessLevels } from '../../base/model/access-level.ts'
import { type User, type UserProfile, userKinds } from '../../base/model/user.ts'
import {
  type BatchQuery,
  type InputSchema,
  unscopedBatchQuery,
  unscopedQuery,
} from '../../base/operations/operation.ts'
import { groupListing, groupListingOrders } from '../groups/group-list-store.ts'
import { getGroup } from '../groups/group-store.ts'
import { projectListing } from '../projects/project-list-store.ts'
import { withShownNames } from '../users/shown-names.ts'
import { userListing } from '../users/user-list-store.ts'
import { profileOf } from '../users/user-profile.ts'
import { findUserByUsername } from '../users/user-store.ts'
import { mayListUsers } from './known-users.ts'

export const findUserProfile = unscopedQuery(
  { name: 'findUserProfile', caller: 'anyone', input: z.object({ username: z.string().max(255) }) },
  async (context, { username }): Promise<UserProfile> => {
    const user = await findUserByUsername(context, username)
    if (user === undefined) throw notFound('User')
    return profileOf(user, context.actor)
  },
)

/** Lists users. */
export const browseUsers = unscopedQuery(
  {
    name: 'browseUsers',
    caller: 'anyone',
    input: z.object({
      ids: z.array(z.int()).max(100).optional(),
      usernames: z.array(z.string().max(255)).max(100).optional(),
      search: z.string().max(255).optional(),
      active: z.boolean().optional(),
      admins: z.boolean().optional(),
      humans: z.boolean().optional(),
      kinds: z.array(z.enum(userKinds)).optional(),
      /** Selects users with a role in this group, or in a group above it. */
      groupId: z.int().optional(),
      sort: z.enum(['asc', 'desc']).default('desc'),
    }),
  },
  async (context, { groupId, search, sort, ...input }): Promise<Listed<User>> => {
    const { actor } = context
    // As in `listUsers`, such callers can check whether a user exists, but cannot list users. A bot may list the members
    // of its group.
    const isNarrow = actor !== undefined && groupId !== undefined
    if (!mayListUsers(actor) && !input.usernames?.length && !isNarrow) throw forbidden()
    const memberOf = groupId === undefined ? undefined : await getGroup(context, groupId)
    if (memberOf !== undefined) await requirePermission(context, memberOf, 'read_members')
    const isAdministrator = actor?.isAdministrator === true
    const filter = {
      ids: input.ids,
      usernames: input.usernames,
      kinds: input.kinds,
      memberOf,
      search: search || undefined,
      viewer: actor,
      allEmails: isAdministrator,
      isActive: input.active,
      isAdministrator: isAdministrator && input.admins,
      isBot: input.humans ? false : undefined,
    }
    return listedEach(userListing(context, filter, sort), 1)[0]!
  },
)

/**
 * Defines a batch query on users. `run` gets the users of which the actor may see all fields; the result of all others
 * is `undefined`.
 */
function ofWholeUsers<Input extends InputSchema, Result>(
  head: { readonly name: string; readonly input: Input },
  run: (
    context: Parameters<BatchQuery<Input, User, Result>['run']>[0],
    users: readonly User[],
    input: z.output<Input>,
  ) => readonly Result[],
): BatchQuery<Input, User, Result | undefined> {
  return unscopedBatchQuery(head, async (context, users, input) => {
    const whole = users.filter((user) => profileOf(user, context.actor).isWhole)
    const results = run(context, whole, input)
    const resultOf = new Map(whole.map((user, index) => [user, results[index]]))
    return users.map((user) => resultOf.get(user))
  })
}

/** Lists the groups in which each user has a direct role, or, with `forProjects`, may create projects. */
export const listGroupsOfEachUser = ofWholeUsers(
  {
    name: 'listGroupsOfEachUser',
    input: z.object({
      forProjects: z.boolean().default(false),
      search: z.string().max(255).optional(),
      orderBy: z.enum(groupListingOrders).default('id'),
      sort: z.enum(['asc', 'desc']).default('desc'),
    }),
  },
  (context, users, { forProjects, search, orderBy, sort }) => {
    const filters = users.map(({ id }) => ({
      search: search || undefined,
      where: [
        isVisibleGroup(context, context.actor),
        forProjects ? mayCreateProjects(context, id) : hasDirectRoleInGroup(context, id),
      ],
    }))
    return listedEach(groupListing(context, filters, { by: orderBy, direction: sort }), users.length)
  },
)

/** Lists the projects in which each user has a role, direct or inherited. */
export const listProjectsWithEachUser = ofWholeUsers(
  { name: 'listProjectsWithEachUser', input: z.object({}) },
  (context, users) => {
    const filters = users.map(({ id }) => ({
      where: [isVisibleProject(context, context.actor), hasLevelInProject(context, id, accessLevels.guest)],
    }))
    return listedEach(projectListing(context, filters, { by: 'id', direction: 'desc' }), users.length)
  },
)

/** Returns the names of users. The name of a bot is hidden from callers who may not see its project or group. */
export const shownNamesOfUsers = unscopedBatchQuery(
  { name: 'shownNamesOfUsers', input: z.object({}) },
  async (context, users: readonly User[]): Promise<string[]> =>
    (await withShownNames(context, context.actor, users)).map(({ name }) => name),
)
