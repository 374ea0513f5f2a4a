import type { ReadContext } from '../../base/kit/store-context.ts'
import type { Actor, User } from '../../base/model/user.ts'
import { HIDDEN_NAME, membersOfVisibleSubjects } from './user-list-store.ts'
import { profileOf } from './user-profile.ts'

/** Returns the users with names that the actor may see. The name of a bot is hidden from those who may not see its project or group. */
export async function withShownNames(context: ReadContext, actor: Actor, users: readonly User[]): Promise<User[]> {
  const hidden = users.filter((user) => user.isBot && !profileOf(user, actor).isWhole).map(({ id }) => id)
  const known = await membersOfVisibleSubjects(context, actor, hidden)
  const isHidden = (id: number) => hidden.includes(id) && !known.has(id)
  return users.map((user) => (isHidden(user.id) ? { ...user, name: HIDDEN_NAME } : user))
}
