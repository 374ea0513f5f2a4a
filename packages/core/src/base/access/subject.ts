import { forbidden, notFound } from '../kit/domain-error.ts'
import type { ReadContext } from '../kit/store-context.ts'
import type { AccessLevel } from '../model/access-level.ts'
import type { Group } from '../model/group.ts'
import type { Project } from '../model/project.ts'
import type { ActingUser, Actor } from '../model/user.ts'
import { can, canSee, type Standing } from './can.ts'
import { hasRoleBelow, levelIn, levelsIn } from './membership.ts'
import type { Permission } from './permission-table.ts'
import { groupsWithRoleBelow } from './visible-store.ts'

/** A group or project, on which an actor has permissions. */
export type Subject = Group | Project

const nounOf = { group: 'Group', project: 'Project' } as const

export async function standingOf(context: ReadContext, caller: Actor, subject: Subject): Promise<Standing> {
  const actor = actorIn(caller, subject)
  const standing = standingWith(actor, subject, actor === undefined ? 0 : await levelIn(context, actor.id, subject))
  // This query is made only if its result matters: a group that the actor may see anyway costs no second query.
  if (subject.kind === 'project' || !countsRolesBelow(caller) || canSee(standing)) return standing
  return { ...standing, hasRoleBelow: await hasRoleBelow(context, caller.id, subject) }
}

/** Works like `standingOf` for many groups and projects, with at most three queries. */
export async function standingsOf(
  context: ReadContext,
  caller: Actor,
  subjects: readonly Subject[],
): Promise<readonly Standing[]> {
  const levelOf = caller === undefined ? () => 0 as const : await levelsIn(context, caller.id, subjects)
  const standings = subjects.map((subject) => {
    const actor = actorIn(caller, subject)
    return standingWith(actor, subject, actor === undefined ? 0 : levelOf(subject))
  })
  const asked = countsRolesBelow(caller) ? subjects.filter(({ kind }) => kind === 'group') : []
  const below = await groupsWithRoleBelow(context, caller, asked)
  return standings.map((standing, index) =>
    subjects[index]!.kind === 'group' && below.has(subjects[index]!.id)
      ? { ...standing, hasRoleBelow: true }
      : standing,
  )
}

const standingWith = (actor: Actor, subject: Subject, level: AccessLevel): Standing => ({
  level,
  visibility: subject.visibility,
  isSignedIn: actor !== undefined,
  isAdministrator: actor?.isAdministrator === true,
  isArchived: subject.kind === 'project' && subject.isArchived,
  features: subject.features,
  ...(subject.kind === 'group' && { creation: creationOf(subject) }),
  ...(actor?.isExternal && { isExternal: true }),
})

const creationOf = ({ creation }: Group) => ({
  create_project: creation.projectCreationLevel,
  create_subgroup: creation.subgroupCreationLevel,
})

/**
 * Returns the actor if its own rights count in this subject. Returns `undefined` if it only has the rights of callers
 * without a sign-in there.
 */
function actorIn(actor: Actor, { kind, id, groupIds }: Subject): Actor {
  const { jobProjectId, botHome } = actor ?? {}
  if (jobProjectId !== undefined && !(kind === 'project' && id === jobProjectId)) return undefined
  if (botHome === undefined) return actor
  const isHome = kind === 'project' && id === botHome.projectId
  const isBelowHome = botHome.groupId !== undefined && groupIds.includes(botHome.groupId)
  return isHome || isBelowHome ? actor : undefined
}

/**
 * Returns whether roles below a group count for the actor. A bot sees the groups above its project as other members of
 * the project do; a job does not.
 */
const countsRolesBelow = (actor: Actor): actor is ActingUser => actor !== undefined && actor.jobProjectId === undefined

/**
 * Returns the standing of the actor, which gives them the permission.
 *
 * @throws DomainError `not_found` if the actor may not see the subject, else `forbidden` if they lack the permission
 */
export async function requirePermission(
  context: ReadContext & { readonly actor: Actor },
  subject: Subject,
  permission: Permission,
): Promise<Standing> {
  const standing = await standingOf(context, context.actor, subject)
  if (!canSee(standing)) throw notFound(nounOf[subject.kind])
  if (!can(standing, permission)) throw forbidden()
  return standing
}
