import { sql } from 'kysely'
import { hasLevelInGroup } from '../../base/access/visible-store.ts'
import { containsText } from '../../base/kit/contains-text.ts'
import { rowsOfEach } from '../../base/kit/listing.ts'
import { mapPage, type Page, type PageRequest, pageOf } from '../../base/kit/page.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import { accessLevels } from '../../base/model/access-level.ts'
import type { Group } from '../../base/model/group.ts'
import type { ActingUser } from '../../base/model/user.ts'
import { lineageOf } from './group-store.ts'

interface NamespaceFilter {
  /** A part of the name or path. */
  readonly search: string | undefined
  readonly isOwned: boolean
  readonly isTopLevel: boolean
}

/** A group, or the user that owns a namespace. */
interface NamespaceKey {
  readonly kind: 'group' | 'user'
  readonly id: number
}

/**
 * Returns a page of the actor's own namespace and of the groups in which the actor has a role. For an administrator,
 * returns a page of all namespaces.
 */
export async function pageOfNamespaces(
  context: ReadContext,
  actor: ActingUser,
  { search, isOwned, isTopLevel }: NamespaceFilter,
  page: PageRequest,
): Promise<Page<NamespaceKey>> {
  const { db } = context
  let groups = db.selectFrom('groups').select(['groups.id', sql<NamespaceKey['kind']>`'group'`.as('kind')])
  let users = db
    .selectFrom('users')
    .select(['users.id', sql<NamespaceKey['kind']>`'user'`.as('kind')])
    .where('users.is_bot', '=', 0)
  if (isOwned || !actor.isAdministrator) {
    const least = isOwned ? accessLevels.owner : accessLevels.minimal
    groups = groups.where(hasLevelInGroup(context, actor.id, least))
    users = users.where('users.id', '=', actor.id)
  }
  if (isTopLevel) groups = groups.where('groups.parent_id', 'is', null)
  if (search !== undefined) {
    groups = groups.where(containsText(context, ['groups.name', 'groups.path'], search))
    users = users.where(containsText(context, ['users.name', 'users.username'], search))
  }
  const all = db.selectFrom(groups.unionAll(users).as('namespaces')).selectAll().orderBy('kind').orderBy('id')
  // Kysely cannot type a query on a union as one on a table.
  const rows = await pageOf<'groups', NamespaceKey>(context, all as never, page)
  return mapPage(rows, (row) => row)
}

/** The counts of everything in a group, at any depth. */
export interface GroupCounts {
  /** The number of different users with a role in the group or below it. */
  readonly membersWithin: number
  readonly projectsWithin: number
  /** The bytes of the repositories of its projects. `undefined` for a subgroup, as on GitLab. */
  readonly repositoryBytes: number | undefined
}

/** Returns the counts of each group, with one query for all of them. */
export async function countsOfGroups(
  { db }: ReadContext,
  groups: readonly Pick<Group, 'groupIds'>[],
): Promise<GroupCounts[]> {
  if (groups.length === 0) return []
  const queries = groups.map(({ groupIds }) => {
    const lineage = `${lineageOf(groupIds)}%`
    const members = db
      .selectFrom('members')
      .leftJoin('groups', 'groups.id', 'members.group_id')
      .leftJoin('projects', 'projects.id', 'members.project_id')
      .select(({ fn }) => fn.count<number>('members.user_id').distinct().as('count'))
      .where((eb) => eb.or([eb('groups.lineage', 'like', lineage), eb('projects.lineage', 'like', lineage)]))
    return db
      .selectFrom('projects')
      .leftJoin('project_storage', 'project_storage.project_id', 'projects.id')
      .select(({ fn }) => [
        fn.countAll<number>().as('projects'),
        fn.coalesce(fn.sum<number>('project_storage.repository_bytes'), sql<number>`0`).as('bytes'),
      ])
      .select(members.as('members'))
      .where('projects.lineage', 'like', lineage)
  })
  const rows = await rowsOfEach(db, queries)
  return rows.map(([row], index) => ({
    membersWithin: Number(row!.members),
    projectsWithin: Number(row!.projects),
    repositoryBytes: groups[index]!.groupIds.length === 1 ? Number(row!.bytes) : undefined,
  }))
}
