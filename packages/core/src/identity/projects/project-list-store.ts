import { type Expression, type RawBuilder, type Selectable, type SqlBool, sql } from 'kysely'
import { hasLevelInProject, isVisibleProject } from '../../base/access/visible-store.ts'
import { isOneOf } from '../../base/kit/conditions.ts'
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
  requireReachableOffset,
} from '../../base/kit/page.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import { type AccessLevel, accessLevels, type Visibility } from '../../base/model/access-level.ts'
import { type Feature, projectFeatureFields } from '../../base/model/feature-access.ts'
import type { Group } from '../../base/model/group.ts'
import type { Project } from '../../base/model/project.ts'
import type { Actor } from '../../base/model/user.ts'
import { lineageOf } from '../groups/group-store.ts'
import { orderColumns, type ProjectListingOrder, type RestProjectOrder } from './project-order.ts'
import { isStarredBy, starCount } from './project-star-store.ts'
import { type ProjectsTable, projectOf } from './project-store.ts'
import { storedTotal } from './storage-store.ts'
import { hasTopics } from './topic-store.ts'

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
  /** Limits the list to projects that this user has starred. */
  readonly starredBy?: number | undefined
  readonly visibility?: Visibility | undefined
  readonly isArchived?: boolean | undefined
  /** Projects must have all of these topics, compared without case. */
  readonly topics?: readonly string[] | undefined
  /** Projects in which each of these features is not disabled. */
  readonly features?: readonly Feature[] | undefined
  readonly idAfter?: number | undefined
  readonly idBefore?: number | undefined
  readonly lastActivityAfterMs?: number | undefined
  readonly lastActivityBeforeMs?: number | undefined
  /** Further conditions, for example that the actor may see the project. */
  readonly where: readonly Expression<SqlBool>[]
}

interface ProjectOrder {
  readonly by: RestProjectOrder
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
  const own = by === 'similarity' ? nearnessTo(filter.search) : columnOf(by)
  const ordered = own === undefined ? query : query.orderBy(own, direction)
  return mapPage(await pageOf(context, ordered.orderBy('id', direction), page), projectOf)
}

/**
 * Returns the conditions that the actor may see a project and has the required membership in it. The membership is
 * ignored for anonymous users.
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

/** Returns the features that a filter requires. As on GitLab, false requires nothing. */
export const enabledFeatures = ({
  withIssuesEnabled,
  withMergeRequestsEnabled,
}: {
  readonly withIssuesEnabled?: boolean | undefined
  readonly withMergeRequestsEnabled?: boolean | undefined
}): Feature[] => [
  ...(withIssuesEnabled ? (['issues'] as const) : []),
  ...(withMergeRequestsEnabled ? (['mergeRequests'] as const) : []),
]

interface MembershipFilter {
  readonly owned?: boolean | undefined
  readonly membership?: boolean | undefined
  readonly minAccessLevel?: AccessLevel | undefined
}

/** Returns the value that an order compares before the ids; `undefined` if all projects have the same value. */
function columnOf(by: Exclude<RestProjectOrder, 'similarity'>) {
  switch (by) {
    case 'id':
    case 'packages_size':
      return undefined
    case 'star_count':
      return starCount
    case 'wiki_size':
      return storedBytes(sql`wiki_bytes`)
    case 'repository_size':
      return storedBytes(sql`coalesce(repository_bytes, 0)`)
    case 'storage_size':
      return storedBytes(storedTotal)
    default:
      return sql.ref(`projects.${orderColumns[by]}`)
  }
}

const storedBytes = (bytes: RawBuilder<unknown>) =>
  sql`coalesce((select ${bytes} from project_storage where project_storage.project_id = projects.id), 0)`

const nearnessTo = (search: string | undefined) =>
  search === undefined ? undefined : matchRank(['projects.name', 'projects.path'], search)

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
  const rank = by === 'star_count' ? starCount : (nearnessTo(search) ?? sql<number>`0`)
  const queries = filters.map((filter) => projectQuery(context, filter).select(rank.as('rank')))
  const id = { column: 'projects.id', key: 'id', direction } as const
  const own: KeysetColumn<Row>[] =
    by === 'similarity' || by === 'star_count'
      ? [{ column: rank, key: 'rank', direction }]
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

type Row = Selectable<ProjectsTable> & { readonly rank: number }
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
  if (search !== undefined) query = query.where(containsText({ db }, searchedColumns(filter), search))
  if (filter.starredBy !== undefined) query = query.where(isStarredBy(filter.starredBy))
  if (filter.visibility !== undefined) query = query.where('visibility', '=', filter.visibility)
  if (filter.isArchived !== undefined) query = query.where('is_archived', '=', filter.isArchived ? 1 : 0)
  for (const condition of hasTopics(filter.topics ?? [])) query = query.where(condition)
  for (const feature of filter.features ?? [])
    query = query.where(sql.ref(projectFeatureFields[feature].column), '!=', 'disabled')
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
