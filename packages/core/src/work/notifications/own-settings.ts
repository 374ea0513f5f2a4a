import { z } from 'zod'
import { unscopedQuery } from '../../base/operations/operation.ts'
import { findVisibleProjects } from '../../identity/projects/project-list-store.ts'
import { findVisibleGroups } from '../../identity/projects/project-view-store.ts'
import type { NotificationLevel } from './notification-level.ts'
import { levelsByParent } from './notification-setting-store.ts'

/** The limit of the groups, and that of the projects, of one list. */
const MAX_PARENTS = 100

/** The level of a user for a group or project. */
interface ParentLevel {
  readonly kind: 'group' | 'project'
  readonly id: number
  readonly fullPath: string
  readonly level: NotificationLevel
}

/**
 * Lists the groups and projects of which the actor is a direct member or for which the actor has made a setting, with their
 * levels: at most 100 groups and 100 projects, the groups first, ordered by path.
 */
export const listOwnLevels = unscopedQuery(
  { name: 'listOwnLevels', input: z.object({}) },
  async (context): Promise<ParentLevel[]> => {
    const { actor } = context
    const groups = await levelsByParent(context, actor!.id, 'group', MAX_PARENTS)
    const projects = await levelsByParent(context, actor!.id, 'project', MAX_PARENTS)
    const visibleGroups = await findVisibleGroups(context, actor, [...groups.keys()])
    const visibleProjects = await findVisibleProjects(context, actor, [...projects.keys()])
    return [...levelsOf(visibleGroups, groups), ...levelsOf(visibleProjects, projects)]
  },
)

/** Returns the parents with their levels, ordered by path. */
function levelsOf(
  parents: ReadonlyMap<number, Pick<ParentLevel, 'kind' | 'id' | 'fullPath'>>,
  levels: ReadonlyMap<number, NotificationLevel>,
): ParentLevel[] {
  return [...parents.values()]
    .map(({ kind, id, fullPath }) => ({ kind, id, fullPath, level: levels.get(id)! }))
    .toSorted((one, other) => (one.fullPath < other.fullPath ? -1 : 1))
}
