import { expressionBuilder, type RawBuilder, type SqlBool, sql } from 'kysely'
import { isGivenIn, isInForce } from '../../base/access/membership.ts'
import { isVisibleGroup, isVisibleProject } from '../../base/access/visible-store.ts'
import { isOneOf } from '../../base/kit/conditions.ts'
import { containsText } from '../../base/kit/contains-text.ts'
import { type Listing, listingOf } from '../../base/kit/listing.ts'
import {
  type KeysetPage,
  type KeysetRequest,
  keysetPageOf,
  mapKeysetPage,
  mapPage,
  noKeysetInThisOrder,
  type Page,
  type PageRequest,
  pageOf,
} from '../../base/kit/page.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import type { CoreTables } from '../../base/kit/tables.ts'
import type { Group } from '../../base/model/group.ts'
import type { Actor, User, UserKind } from '../../base/model/user.ts'
import { type UserRow, userColumns, userOf } from './user-store.ts'

interface UserFilter {
  /** Compared without letter case. */
  readonly username?: string | undefined
  /** A part of the name or username, or a whole e-mail address: a public one, or any if `allEmails`. */
  readonly search?: string | undefined
  readonly allEmails: boolean
  /** `search` finds names of bots only if this user may see their project or group. */
  readonly viewer: Actor
  readonly isActive?: boolean | undefined
  readonly isBlocked?: boolean | undefined
  readonly isAdministrator?: boolean | undefined
  readonly isBot?: boolean | undefined
  readonly isExternal?: boolean | undefined
  readonly excludeActive?: boolean | undefined
  readonly excludeExternal?: boolean | undefined
  /** Selects users without a role in any project, direct or inherited. */
  readonly withoutProjects?: boolean | undefined
  /** Compared without letter case. */
  readonly publicEmail?: string | undefined
  readonly createdAfterMs?: number | undefined
  readonly createdBeforeMs?: number | undefined
  readonly idAfter?: number | undefined
  readonly idBefore?: number | undefined
  readonly ids?: readonly number[] | undefined
  /** Compared without letter case. */
  readonly usernames?: readonly string[] | undefined
  readonly kinds?: readonly UserKind[] | undefined
  /** Selects users with a role in this group, or in a group above it. */
  readonly memberOf?: Group | undefined
}

interface UserOrder {
  readonly by: (typeof userOrders)[number]
  readonly direction: 'asc' | 'desc'
}

export const userOrders = ['id', 'name', 'username', 'created_at', 'updated_at'] as const

const orderColumns = {
  username: 'users.username',
  created_at: 'users.created_at_ms',
  updated_at: 'users.updated_at_ms',
} as const

/** The name that is shown instead of that of a bot to those who may not see its project or group. */
export const HIDDEN_NAME = '****'

/** Returns the sort key of an order. Names sort as they are shown, because the place of a bot would tell its name. */
function orderExpression(context: ReadContext, viewer: Actor, by: Exclude<UserOrder['by'], 'id'>): RawBuilder<unknown> {
  if (by !== 'name') return sql.ref(orderColumns[by])
  if (viewer?.isAdministrator) return sql.ref('users.name')
  const shown = expressionBuilder<CoreTables, 'users'>().exists(membershipsSeenBy(context, viewer))
  return sql`case when users.is_bot = 0 or users.id = ${viewer?.id ?? 0} or ${shown} then users.name else ${HIDDEN_NAME} end`
}

/** Selects the memberships of the user of the outer query in groups and projects that the viewer may see. */
const membershipsSeenBy = (context: ReadContext, viewer: Actor) =>
  visibleMemberships(context, viewer).select('members.id').whereRef('members.user_id', '=', sql.ref('users.id'))

export async function pageOfUsers(
  context: ReadContext,
  filter: UserFilter,
  { by, direction }: UserOrder,
  page: PageRequest & KeysetRequest,
  isKeyset: boolean,
): Promise<Page<User> | KeysetPage<User>> {
  const query = wantedUsers(context, filter)
  if (isKeyset) {
    if (by !== 'id') throw noKeysetInThisOrder()
    return mapKeysetPage(await keysetPageOf(query, page, [{ column: 'users.id', key: 'id', direction }]), userOf)
  }
  const ordered = by === 'id' ? query : query.orderBy(orderExpression(context, filter.viewer, by), direction)
  return mapPage(await pageOf(context, ordered.orderBy('id', direction), page), userOf)
}

/** Lists users, ordered by the time of creation. */
export const userListing = (context: ReadContext, filter: UserFilter, direction: 'asc' | 'desc'): Listing<User> =>
  listingOf(context, [wantedUsers(context, filter)], {
    order: [
      { column: 'users.created_at_ms', key: 'created_at_ms', direction },
      { column: 'users.id', key: 'id', direction },
    ],
    itemsOf: (rows: readonly UserRow[]) => rows.map(userOf),
  })

function wantedUsers(context: ReadContext, filter: UserFilter) {
  let query = context.db.selectFrom('users').select(userColumns)
  const { usernames, memberOf } = filter
  if (filter.username !== undefined)
    query = query.where(sql<string>`lower(${sql.ref('username')})`, '=', filter.username.toLowerCase())
  if (usernames !== undefined) {
    const wanted = usernames.map((username) => username.toLowerCase())
    query = query.where(isOneOf(sql`lower(${sql.ref('users.username')})`, wanted))
  }
  if (filter.ids !== undefined) query = query.where(isOneOf(sql.ref('users.id'), filter.ids))
  if (filter.kinds !== undefined) {
    const flags = filter.kinds.map((kind) => (kind === 'project_bot' ? 1 : 0))
    query = query.where(isOneOf(sql.ref('users.is_bot'), flags))
  }
  if (memberOf !== undefined) {
    query = query.where('users.id', 'in', (eb) =>
      eb
        .selectFrom('members')
        .select('members.user_id')
        .where(isInForce(context))
        .where(isGivenIn(memberOf, 'inherited')),
    )
  }
  if (filter.search !== undefined) {
    const { search, allEmails, viewer } = filter
    query = query.where((eb) =>
      eb.or([
        nameOrUsernameContains(context, viewer, search),
        eb('public_email', '=', search.toLowerCase()),
        ...(allEmails ? [eb('email', '=', search.toLowerCase())] : []),
      ]),
    )
  }
  if (filter.isActive) query = query.where('state', '=', 'active')
  if (filter.isBlocked) query = query.where('state', '=', 'blocked')
  if (filter.isAdministrator) query = query.where('is_admin', '=', 1)
  if (filter.isBot !== undefined) query = query.where('is_bot', '=', filter.isBot ? 1 : 0)
  if (filter.isExternal) query = query.where('is_external', '=', 1)
  if (filter.excludeExternal) query = query.where('is_external', '=', 0)
  if (filter.excludeActive) query = query.where('state', '!=', 'active')
  if (filter.publicEmail !== undefined) query = query.where('public_email', '=', filter.publicEmail.toLowerCase())
  if (filter.withoutProjects) query = query.where((eb) => eb.not(eb.exists(projectsOfUser(context))))
  if (filter.createdAfterMs !== undefined) query = query.where('created_at_ms', '>=', filter.createdAfterMs)
  if (filter.createdBeforeMs !== undefined) query = query.where('created_at_ms', '<=', filter.createdBeforeMs)
  if (filter.idAfter !== undefined) query = query.where('id', '>', filter.idAfter)
  if (filter.idBefore !== undefined) query = query.where('id', '<', filter.idBefore)
  return query
}

function nameOrUsernameContains(context: ReadContext, viewer: Actor, search: string) {
  const contains = containsText(context, ['users.name', 'users.username'], search)
  if (viewer?.isAdministrator) return contains
  const eb = expressionBuilder<CoreTables, 'users'>()
  const isShown = eb.exists(membershipsSeenBy(context, viewer))
  return eb.and([
    contains,
    eb.or([eb('users.is_bot', '=', 0), containsText(context, ['users.username'], search), isShown]),
  ])
}

/** Selects a row for each project in which the user of the outer query has a role. */
const projectsOfUser = (context: ReadContext) =>
  context.db
    .selectFrom('members')
    .leftJoin('groups', 'groups.id', 'members.group_id')
    .select('members.id')
    .where(isInForce(context))
    .whereRef('members.user_id', '=', sql.ref('users.id'))
    .where((eb) =>
      eb.or([
        eb('members.project_id', 'is not', null),
        eb.exists(
          eb
            .selectFrom('projects')
            .select('projects.id')
            .where(sql<SqlBool>`${sql.ref('projects.lineage')} like ${sql.ref('groups.lineage')} || '%'`),
        ),
      ]),
    )

/** Returns the ids of the given users who are members of a group or project that the actor may see. */
export async function membersOfVisibleSubjects(
  context: ReadContext,
  actor: Actor,
  ids: readonly number[],
): Promise<ReadonlySet<number>> {
  if (ids.length === 0) return new Set()
  const rows = await visibleMemberships(context, actor)
    .select('members.user_id')
    .where('members.user_id', 'in', [...new Set(ids)])
    .execute()
  return new Set(rows.map((row) => row.user_id))
}

/** Returns the query for the memberships in groups and projects that the actor may see. */
const visibleMemberships = (context: ReadContext, actor: Actor) =>
  context.db
    .selectFrom('members')
    .leftJoin('groups', 'groups.id', 'members.group_id')
    .leftJoin('projects', 'projects.id', 'members.project_id')
    .where((eb) => eb.or([isVisibleGroup(context, actor), isVisibleProject(context, actor)]))
