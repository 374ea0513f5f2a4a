import { can, type Standing } from '../../base/access/can.ts'
import { isInForce } from '../../base/access/membership.ts'
import type { Permission } from '../../base/access/permission-table.ts'
import { standingsOf } from '../../base/access/subject.ts'
import { isVisibleGroup } from '../../base/access/visible-store.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import { type AccessLevel, accessLevels } from '../../base/model/access-level.ts'
import type { Group } from '../../base/model/group.ts'
import type { Project } from '../../base/model/project.ts'
import type { Actor } from '../../base/model/user.ts'
import { type User, userNamespaceId } from '../../base/model/user.ts'
import { avatarPath } from '../avatars/avatar.ts'
import { findGroups, groupOf } from '../groups/group-store.ts'
import { findUsers } from '../users/user-store.ts'
import { openIssueCounts } from './open-issue-count-store.ts'
import { starCountsOf } from './project-star-store.ts'
import type { Namespace, ProjectView } from './project-view.ts'
import { topicsOf } from './topic-store.ts'

/**
 * Returns the projects with their related data, in input order. The number of queries does not depend on the number of
 * projects.
 */
export async function viewsOf(
  context: ReadContext,
  actor: Actor,
  projects: readonly Project[],
): Promise<ProjectView[]> {
  if (projects.length === 0) return []
  const groups = await findGroups(
    context,
    projects.flatMap(({ groupId }) => groupId ?? []),
  )
  const owners = await findUsers(
    context,
    projects.flatMap(({ ownerId }) => ownerId ?? []),
  )
  const topics = await topicsOf(
    context,
    projects.map(({ id }) => id),
  )
  const stars = await starCountsOf(
    context,
    projects.map(({ id }) => id),
  )
  const standings = await standingsOf(context, actor, projects)
  const openIssues = await openIssuesOf(context, projects, standings)
  const roleIn = actor === undefined ? undefined : await rolesOf(context, actor.id, projects)
  return projects.map((project, index) => {
    const owner = project.ownerId === undefined ? undefined : owners.get(project.ownerId)
    const group = project.groupId === undefined ? undefined : groups.get(project.groupId)
    return {
      project,
      owner,
      topics: topics.get(project.id) ?? [],
      openIssuesCount: openIssues.get(project.id),
      starCount: stars.get(project.id) ?? 0,
      canCreateMergeRequest: can(standings[index]!, 'create_merge_request'),
      namespace: group === undefined ? namespaceOfUser(owner!) : namespaceOfGroup(group),
      nameWithNamespace: `${group?.fullName ?? owner!.name} / ${project.name}`,
      roles: roleIn && {
        project: roleIn(`project:${project.id}`),
        group: Math.max(0, ...project.groupIds.map((id) => roleIn(`group:${id}`))) as AccessLevel,
      },
    }
  })
}

/** Returns the number of open issues of each project. Projects in which the actor may not read issues are left out. */
function openIssuesOf(context: ReadContext, projects: readonly Project[], standings: readonly Standing[]) {
  const allowing = (permission: Permission) =>
    projects.flatMap(({ id }, index) => (can(standings[index]!, permission) ? id : []))
  return openIssueCounts(context, allowing('read_issue'), allowing('read_confidential_issue'))
}

export async function viewOf(context: ReadContext, actor: Actor, project: Project): Promise<ProjectView> {
  return (await viewsOf(context, actor, [project]))[0]!
}

/** Returns the given groups that the actor may see, by id. */
export async function findVisibleGroups(
  context: ReadContext,
  actor: Actor,
  ids: readonly (number | undefined)[],
): Promise<Map<number, Group>> {
  const wanted = [...new Set(ids)].filter((id) => id !== undefined)
  if (wanted.length === 0) return new Map()
  const query = context.db.selectFrom('groups').selectAll().where('id', 'in', wanted)
  const rows = await query.where(isVisibleGroup(context, actor)).execute()
  return new Map(rows.map((row) => [row.id, groupOf(row)]))
}

/** Returns a function from `project:5` or `group:16` to the user's direct role there, 0 for none. */
async function rolesOf(context: ReadContext, userId: number, projects: readonly Project[]) {
  const groupIds = [...new Set(projects.flatMap((project) => project.groupIds))]
  const projectIds = projects.map(({ id }) => id)
  const rows = await context.db
    .selectFrom('members')
    .select(['group_id', 'project_id', 'access_level'])
    .where('user_id', '=', userId)
    .where('access_level', '>', accessLevels.minimal)
    .where(isInForce(context))
    .where((eb) =>
      eb.or([...(groupIds.length > 0 ? [eb('group_id', 'in', groupIds)] : []), eb('project_id', 'in', projectIds)]),
    )
    .execute()
  const roles = new Map(
    rows.map((row) => [
      row.group_id === null ? `project:${row.project_id}` : `group:${row.group_id}`,
      row.access_level as AccessLevel,
    ]),
  )
  return (of: string): AccessLevel => roles.get(of) ?? 0
}

export const namespaceOfGroup = (group: Group): Namespace => ({
  id: group.id,
  kind: 'group',
  name: group.name,
  path: group.path,
  fullPath: group.fullPath,
  parentId: group.parentId,
  avatarPath: avatarPath('group', group),
})

export const namespaceOfUser = (user: User): Namespace => ({
  id: userNamespaceId(user.id),
  kind: 'user',
  name: user.name,
  path: user.username,
  fullPath: user.username,
  parentId: undefined,
  avatarPath: avatarPath('user', user),
})
