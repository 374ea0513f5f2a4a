import type { Actor, User, UserProfile } from '../model/user.ts'

/** Returns a user with what the actor may see of it. */
export const profileOf = (user: User, actor: Actor): UserProfile => ({
  user,
  isWhole: actor !== undefined && (actor.isAdministrator || actor.id === user.id),
  isForAdministrator: actor?.isAdministrator === true,
})
