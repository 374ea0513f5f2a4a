import type { Group } from '../groups/group.ts'
import type { Actor, Reading } from '../kit/context.ts'
import { forbidden, notFound } from '../kit/domain-error.ts'
import type { Project } from '../projects/project.ts'
import { can, canSee, type Standing } from './can.ts'
import { levelIn } from './membership.ts'
import type { Permission } from './permission-table.ts'

/** What permissions are about. */
export type Subject = Group | Project

const nounOf = { group: 'Group', project: 'Project' } as const

export async function standingOf(reading: Reading, actor: Actor, subject: Subject): Promise<Standing> {
  return {
    level: actor === undefined ? 0 : await levelIn(reading, actor.id, subject),
    visibility: subject.visibility,
    isSignedIn: actor !== undefined,
    isAdministrator: actor?.isAdministrator === true,
  }
}

/** @throws DomainError `not_found` for what the actor may not see, else `forbidden` for what they may not do */
export async function requirePermission(
  context: Reading & { readonly actor: Actor },
  subject: Subject,
  permission: Permission,
): Promise<void> {
  const standing = await standingOf(context, context.actor, subject)
  if (!canSee(standing)) throw notFound(nounOf[subject.kind])
  if (!can(standing, permission)) throw forbidden()
}
