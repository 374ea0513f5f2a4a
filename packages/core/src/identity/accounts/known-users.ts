import type { Subject } from '../../base/access/subject.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import type { Actor, BotHome, User } from '../../base/model/user.ts'
import { getGroup } from '../groups/group-store.ts'
import { findMember } from '../members/member-store.ts'
import { getProject } from '../projects/project-store.ts'

/** Returns whether the actor may list users. All others can only ask for a user by a known name. */
export const mayListUsers = (actor: Actor): boolean => actor !== undefined && actor.botHome === undefined

/**
 * Returns whether the actor may read a user by id. A bot may read only itself and the members of its project or group.
 */
export async function isKnownTo(context: ReadContext, actor: Actor, { id }: User): Promise<boolean> {
  if (actor?.botHome === undefined || actor.id === id) return true
  const home = await findHome(context, actor.botHome)
  return home !== undefined && (await findMember(context, home, id, 'inherited')) !== undefined
}

async function findHome(context: ReadContext, { projectId, groupId }: BotHome): Promise<Subject | undefined> {
  if (projectId !== undefined) return getProject(context, projectId)
  return groupId === undefined ? undefined : getGroup(context, groupId)
}
