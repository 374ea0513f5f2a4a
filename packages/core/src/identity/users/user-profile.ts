import type { Actor, User, UserProfile } from '../../base/model/user.ts'

/** Returns a user, and how much of the profile the actor may see. */
export const profileOf = (user: User, actor: Actor): UserProfile => ({
  user,
  isWhole: actor !== undefined && (actor.isAdministrator || actor.id === user.id),
  isForAdministrator: actor?.isAdministrator === true,
})
