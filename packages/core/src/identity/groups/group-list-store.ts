import { type Expression, type Selectable, type SqlBool, sql } from 'kysely'
import { hasLevelInGroup, hasRoleInOrBelowGroup, isVisibleGroup } from '../../base/access/visible-store.ts'
import { never } from '../../base/kit/conditions.ts'
import { containsText, matchRank } from '../../base/kit/contains-text.ts'
import { type Listing, listingOf } from '../../base/kit/listing.ts'
import {
  type KeysetColumn,
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
import { type AccessLevel, accessLevels, type Visibility } from '../../base/model/access-level.ts'
import type { Group } from '../../base/model/group.ts'
import type { Actor } from '../../base/model/user.ts'
import { type GroupsTable, groupOf, lineageOf } from './group-store.ts'

export interface GroupFilter {
  /** Selects the groups directly in this group, or anywhere below it. */
  readonly within?: { readonly group: Group; readonly depth: 'direct' | 'any' }
  readonly isTopLevel?: boolean | undefined
  /** A part of the name or path. */
  readonly search?: string | undefined
  readonly visibility?: Visibility | undefined
  readonly ids?: readonly number[] | undefined
  readonly without?: readonly number[] | undefined
  /** Further conditions, such as which groups the actor may see. */
  readonly where: readonly Expression<SqlBool>[]
}

interface GroupOrder {
  /** `similarity` orders by the similarity to the search text. */
  readonly by: 'id' | 'name' | 'path' | 'similarity'
  readonly direction: 'asc' | 'desc'
}

export async function pageOfGroups(
  context: ReadContext,
  filter: GroupFilter,
  { by, direction }: GroupOrder,
  page: PageRequest,
): Promise<Page<Group>> {
  const query = filtered(context, filter)
  const own = by === 'similarity' ? nearnessTo(filter.search) : by === 'id' ? undefined : sql.ref(`groups.${by}`)
  const ordered = own === undefined ? query : query.orderBy(own, direction)
  return mapPage(await pageOf(context, ordered.orderBy('id', direction), page), groupOf)
}

/** @throws DomainError `no_keyset_in_order` unless ordered by name, ascending */
export async function keysetPageOfGroups(
  context: ReadContext,
  filter: GroupFilter,
  { by, direction }: GroupOrder,
  page: KeysetRequest,
): Promise<KeysetPage<Group>> {
  if (by !== 'name' || direction !== 'asc') throw noKeysetInThisOrder()
  const found = await keysetPageOf(filtered(context, filter), page, [
    { column: 'groups.name', key: 'name', direction },
    { column: 'groups.id', key: 'id', direction },
  ])
  return mapKeysetPage(found, groupOf)
}

export const groupListingOrders = ['id', 'name', 'path', 'created_at', 'updated_at', 'similarity'] as const

interface GroupListingOrder {
  /**
   * `similarity` refers to the search text. The time of the last change is not stored, so `updated_at` is the time of
   * creation.
   */
  readonly by: (typeof groupListingOrders)[number]
  readonly direction: 'asc' | 'desc'
}

/** Returns one list of groups for each filter. */
export function groupListing(
  context: ReadContext,
  filters: readonly GroupFilter[],
  { by: asked, direction }: GroupListingOrder,
): Listing<Group> {
  const search = asked === 'similarity' ? filters[0]?.search : undefined
  // Without a search text all groups are equally similar. A bare number cannot express that: in `order by`, databases take
  // it for the position of a column.
  const by = asked === 'similarity' && search === undefined ? 'id' : asked
  const nearness = nearnessTo(search) ?? sql<number>`0`
  const column = { created_at: 'created_at_ms', updated_at: 'created_at_ms', name: 'name', path: 'path' } as const
  const own: KeysetColumn<ListedRow>[] =
    by === 'id'
      ? []
      : by === 'similarity'
        ? [{ column: nearness, key: 'nearness', direction }]
        : [{ column: `groups.${column[by]}`, key: column[by], direction }]
  return listingOf(
    context,
    filters.map((filter) => filtered(context, filter).select(nearness.as('nearness'))),
    {
      order: [...own, { column: 'groups.id', key: 'id', direction }],
      itemsOf: (rows: readonly ListedRow[]) => rows.map(groupOf),
    },
  )
}

const nearnessTo = (search: string | undefined) =>
  search === undefined ? undefined : matchRank(['groups.name', 'groups.path'], search)

type ListedRow = Selectable<GroupsTable> & { readonly nearness: number }

interface ActorGroupFilter {
  readonly owned?: boolean | undefined
  readonly minAccessLevel?: AccessLevel | undefined
  /** `false` excludes groups in which the actor has no role, even if everyone may see them. */
  readonly allAvailable?: boolean | undefined
}

/**
 * Returns the conditions for the groups that the actor may see and that match the filter. An anonymous caller owns nothing.
 */
export function conditionsOfActor(
  context: ReadContext,
  actor: Actor,
  { owned, minAccessLevel, allAvailable }: ActorGroupFilter,
): Expression<SqlBool>[] {
  const visible = isVisibleGroup(context, actor)
  if (actor === undefined) return [visible]
  return [
    visible,
    ...(owned ? [hasLevelInGroup(context, actor.id, accessLevels.owner)] : []),
    ...(minAccessLevel === undefined ? [] : [hasLevelInGroup(context, actor.id, minAccessLevel)]),
    ...(allAvailable === false ? [hasRoleInOrBelowGroup(context, actor.id)] : []),
  ]
}

function filtered({ db }: ReadContext, { within, search, ids, without, visibility, isTopLevel, where }: GroupFilter) {
  let query = db.selectFrom('groups').selectAll('groups')
  if (within?.depth === 'direct') query = query.where('parent_id', '=', within.group.id)
  if (within?.depth === 'any') query = query.where('lineage', 'like', `${lineageOf(within.group.groupIds)}_%`)
  if (isTopLevel) query = query.where('parent_id', 'is', null)
  if (search !== undefined) query = query.where(containsText({ db }, ['groups.name', 'groups.path'], search))
  if (visibility !== undefined) query = query.where('visibility', '=', visibility)
  if (ids !== undefined) query = ids.length === 0 ? query.where(never) : query.where('id', 'in', [...ids])
  if (without !== undefined && without.length > 0) query = query.where('id', 'not in', [...without])
  for (const condition of where) query = query.where(condition)
  return query
}
