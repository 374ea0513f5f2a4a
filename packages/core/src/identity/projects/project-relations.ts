import { z } from 'zod'
import type { Group } from '../../base/model/group.ts'
import type { Project } from '../../base/model/project.ts'
import type { User } from '../../base/model/user.ts'
import { unscopedBatchQuery } from '../../base/operations/operation.ts'
import { findUsers } from '../users/user-store.ts'
import { findVisibleGroups, viewsOf } from './project-view-store.ts'
import { topicsOf } from './topic-store.ts'

/** Returns each project with its related data. */
export const viewsOfProjects = unscopedBatchQuery(
  { name: 'viewsOfProjects', input: z.object({}) },
  (context, projects: readonly Project[]) => viewsOf(context, context.actor, projects),
)

/** Returns the topics of each project, in their order. */
export const topicsOfProjects = unscopedBatchQuery(
  { name: 'topicsOfProjects', input: z.object({}) },
  async (context, projects: readonly Project[]): Promise<(readonly string[])[]> => {
    const ids = projects.map(({ id }) => id)
    const topics = await topicsOf(context, ids)
    return ids.map((id) => topics.get(id) ?? [])
  },
)

/** Returns the group that contains each project, or its root group; `undefined` if the actor may not see that group. */
export const groupsOfProjects = unscopedBatchQuery(
  { name: 'groupsOfProjects', input: z.object({ which: z.enum(['nearest', 'root']) }) },
  async (context, projects: readonly Project[], { which }): Promise<(Group | undefined)[]> => {
    const ids = projects.map(({ groupId, groupIds }) => (which === 'root' ? groupIds[0] : groupId))
    const groups = await findVisibleGroups(context, context.actor, ids)
    return ids.map((id) => (id === undefined ? undefined : groups.get(id)))
  },
)

export type NamespaceOwner =
  | { readonly group: Group; readonly user?: never }
  | { readonly user: User; readonly group?: never }

/**
 * Returns the group or the user that each project belongs to, or `undefined` for a group that the actor may not see.
 */
export const namespaceOwnersOfProjects = unscopedBatchQuery(
  { name: 'namespaceOwnersOfProjects', input: z.object({}) },
  async (context, projects: readonly Project[]): Promise<(NamespaceOwner | undefined)[]> => {
    const groups = await findVisibleGroups(
      context,
      context.actor,
      projects.map(({ groupId }) => groupId),
    )
    const users = await findUsers(
      context,
      projects.flatMap(({ ownerId }) => ownerId ?? []),
    )
    return projects.map(({ groupId = 0, ownerId = 0 }) => {
      const [group, user] = [groups.get(groupId), users.get(ownerId)]
      return group === undefined ? user && { user } : { group }
    })
  },
)
