import { hasLevelInProject } from '../../base/access/visible-store.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import { accessLevels } from '../../base/model/access-level.ts'
import type { Project } from '../../base/model/project.ts'

/** Returns the ids of the given users who can see the project and so can be assigned work in it. */
export async function assignableUserIds(
  context: ReadContext,
  project: Pick<Project, 'id'>,
  userIds: readonly number[],
): Promise<number[]> {
  if (userIds.length === 0) return []
  const rows = await context.db
    .selectFrom('users')
    .innerJoin('projects', (join) => join.on('projects.id', '=', project.id))
    .select('users.id')
    .where('users.id', 'in', [...userIds])
    .where((eb) =>
      eb.or([
        eb('projects.visibility', 'in', ['public', 'internal']),
        eb('users.is_admin', '=', 1),
        ...userIds.map((id) => eb.and([eb('users.id', '=', id), hasLevelInProject(context, id, accessLevels.guest)])),
      ]),
    )
    .execute()
  return rows.map((row) => row.id)
}
