import { type Expression, type Selectable, type SqlBool, sql } from 'kysely'
import { hasLevelInProject, isVisibleProject } from '../access/visible-store.ts'
import { lineageOf } from '../groups/group-store.ts'
import { isOneOf } from '../kit/conditions.ts'
import { containsText, matchRank } from '../kit/contains-text.ts'
import { type Listing, listingOf } from '../kit/listing.ts'
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
  requireReachableOffset,
} from '../kit/page.ts'
import type { ReadContext } from '../kit/store-context.ts'
import { type AccessLevel, accessLevels, type Visibility } from '../model/access-level.ts'
import type { Group } from '../model/group.ts'
import type { Project } from '../model/project.ts'
import type { Actor } from '../model/user.ts'
import { type ProjectsTable, projectOf } from './project-store.ts'

export interface ProjectFilter {
  /** Limits the list to projects directly in the group, or anywhere below it. */
  readonly within?: { readonly group: Group; readonly depth: 'direct' | 'any' }
  readonly ownerId?: number
  /** A part of the name, path or description. */
  readonly search?: string | undefined
  /** Whether `search` applies to the full path too. */
  readonly searchesNamespaces?: boolean | undefined
  readonly ids?: readonly number[] | undefined
  /** Full paths, compared without case. */
  readonly fullPaths?: readonly string[] | undefined
  readonly visibility?: Visibility | undefined
  readonly isArchived?: boolean | undefined
  readonly idAfter?: number | undefined
  readonly idBefore?: number | undefined
  readonly lastActivityAfterMs?: number | undefined
  readonly lastActivityBeforeMs?: number | undefined
  /** Further conditions, for example that the actor may see the project. */
  readonly where: readonly Expression<SqlBool>[]
}

/** The columns by the names that REST has for them. */
const orderColumns = {
  id: 'id',
  name: 'name',
  path: 'path',
  created_at: 'created_at_ms',
  updated_at: 'last_activity_at_ms',
  last_activity_at: 'last_activity_at_ms',
} as const

export const projectOrders = Object.keys(orderColumns) as [keyof typeof orderColumns]

export interface ProjectOrder {
  readonly by: keyof typeof orderColumns
  readonly direction: 'asc' | 'desc'
}

/** @throws DomainError `no_keyset_in_order` for any order but that of the ids; `page_too_far` */
export async function listProjectRows(
  context: ReadContext,
  filter: ProjectFilter,
  { by, direction }: ProjectOrder,
  page: PageRequest & KeysetRequest,
  isKeyset: boolean,
): Promise<Page<Project> | KeysetPage<Project>> {
  const query = projectQuery(context, filter)
  if (isKeyset) {
    if (by !== 'id') throw noKeysetInThisOrder()
    return mapKeysetPage(await keysetPageOf(query, page, [{ column: 'projects.id', key: 'id', direction }]), projectOf)
  }
  requireReachableOffset(page, 'Project')
  const ordered = by === 'id' ? query : query.orderBy(orderColumns[by], direction)
  return mapPage(await pageOf(context, ordered.orderBy('id', direction), page), projectOf)
}

/**
 * Returns the conditions that the actor may see a project and has the membership; the latter is ignored for anonymous
 * users.
 */
export function conditionsOfActor(
  context: ReadContext,
  actor: Actor,
  { owned, membership, minAccessLevel }: MembershipFilter,
): Expression<SqlBool>[] {
  const visible = isVisibleProject(context, actor)
  if (actor === undefined) return [visible]
  const levels = [
    ...(owned ? [accessLevels.owner] : []),
    ...(membership ? [accessLevels.guest] : []),
    ...(minAccessLevel === undefined ? [] : [minAccessLevel]),
  ]
  return [visible, ...levels.map((level) => hasLevelInProject(context, actor.id, level))]
}

interface MembershipFilter {
  readonly owned?: boolean | undefined
  readonly membership?: boolean | undefined
  readonly minAccessLevel?: AccessLevel | undefined
}

export const projectListingOrders = [...projectOrders, 'full_path', 'similarity', 'storage_size'] as const

export interface ProjectListingOrder {
  /** `similarity` is to the search text. `storage_size` is accepted, but orders by id. */
  readonly by: (typeof projectListingOrders)[number]
  readonly direction: 'asc' | 'desc'
}

/** Lists the projects of each filter. */
export function projectListing(
  context: ReadContext,
  filters: readonly ProjectFilter[],
  { by: requested, direction }: ProjectListingOrder,
): Listing<Project> {
  const search = requested === 'similarity' ? filters[0]?.search : undefined
  // Without a search text all are equally similar. The constant must not be in `order by`, where a number is a column
  // index.
  const by = requested === 'similarity' && search === undefined ? 'id' : requested
  const nearness = search === undefined ? sql<number>`0` : matchRank(['projects.name', 'projects.path'], search)
  const queries = filters.map((filter) => projectQuery(context, filter).select(nearness.as('nearness')))
  const id = { column: 'projects.id', key: 'id', direction } as const
  const own: KeysetColumn<Row>[] =
    by === 'similarity'
      ? [{ column: nearness, key: 'nearness', direction }]
      : by === 'id' || by === 'storage_size'
        ? []
        : [{ column: `projects.${listingColumns[by]}`, key: listingColumns[by], direction }]
  return listingOf(context, queries, { order: [...own, id], itemsOf: (rows: readonly Row[]) => rows.map(projectOf) })
}

/** Returns the given projects that the actor may see, by id. */
export async function findVisibleProjects(
  context: ReadContext,
  actor: Actor,
  ids: readonly number[],
): Promise<Map<number, Project>> {
  const filter = { ids: [...new Set(ids)], where: [isVisibleProject(context, actor)] }
  const rows = await projectQuery(context, filter).execute()
  return new Map(rows.map((row) => [row.id, projectOf(row)]))
}

type Row = Selectable<ProjectsTable> & { readonly nearness: number }
const listingColumns = { ...orderColumns, full_path: 'full_path' } as const

function projectQuery({ db }: ReadContext, filter: ProjectFilter) {
  let query = db.selectFrom('projects').selectAll('projects')
  const { within, search, ids, fullPaths } = filter
  if (within?.depth === 'direct') query = query.where('group_id', '=', within.group.id)
  if (within?.depth === 'any') query = query.where('lineage', 'like', `${lineageOf(within.group.groupIds)}%`)
  if (filter.ownerId !== undefined) query = query.where('owner_id', '=', filter.ownerId)
  if (ids !== undefined) query = query.where(isOneOf(sql.ref('projects.id'), ids))
  if (fullPaths !== undefined) {
    const paths = fullPaths.map((path) => path.toLowerCase())
    query = query.where(isOneOf(sql`lower(${sql.ref('projects.full_path')})`, paths))
  }
  if (search !== undefined) query = query.where(containsText(searchedColumns(filter), search))
  if (filter.visibility !== undefined) query = query.where('visibility', '=', filter.visibility)
  if (filter.isArchived !== undefined) query = query.where('is_archived', '=', filter.isArchived ? 1 : 0)
  if (filter.idAfter !== undefined) query = query.where('id', '>', filter.idAfter)
  if (filter.idBefore !== undefined) query = query.where('id', '<', filter.idBefore)
  if (filter.lastActivityAfterMs !== undefined)
    query = query.where('last_activity_at_ms', '>=', filter.lastActivityAfterMs)
  if (filter.lastActivityBeforeMs !== undefined)
    query = query.where('last_activity_at_ms', '<=', filter.lastActivityBeforeMs)
  for (const condition of filter.where) query = query.where(condition)
  return query
}

const searchedColumns = ({ searchesNamespaces }: ProjectFilter): string[] => [
  'projects.name',
  'projects.path',
  'projects.description',
  ...(searchesNamespaces ? ['projects.full_path'] : []),
]
