import { z } from 'zod'
import { unscopedQuery } from '../operations/operation.ts'
import { findVisibleProjects } from '../projects/project-list-store.ts'
import { findVisibleGroups } from '../projects/project-view-store.ts'
import type { NotificationLevel } from './notification-level.ts'

/** The limit of the groups, and that of the projects, of one list. */
const MAX_PARENTS = 100

/** The level of a user for a group or project. */
export interface ParentLevel {
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
    const { db, actor } = context
    const userId = actor!.id
    const levelsIn = async (column: 'group_id' | 'project_id') => {
      const levels = new Map<number, NotificationLevel>()
      const settings = db.selectFrom('notification_settings').select([column, 'level']).where('user_id', '=', userId)
      for (const row of await settings.where(column, 'is not', null).orderBy('id').limit(MAX_PARENTS).execute())
        levels.set(row[column]!, row.level)
      const members = db.selectFrom('members').select(column).where('user_id', '=', userId)
      for (const row of await members.where(column, 'is not', null).orderBy('id').limit(MAX_PARENTS).execute())
        if (levels.size < MAX_PARENTS && !levels.has(row[column]!)) levels.set(row[column]!, 'global')
      return levels
    }
    const [groups, projects] = [await levelsIn('group_id'), await levelsIn('project_id')]
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
