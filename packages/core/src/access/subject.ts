import type { Group } from '../groups/group.ts'
import type { Actor, Reading } from '../kit/context.ts'
import { forbidden, notFound } from '../kit/domain-error.ts'
import type { Project } from '../projects/project.ts'
import { can, canSee, type Standing } from './can.ts'
import { hasRoleBelow, levelIn, levelsIn } from './membership.ts'
import type { Permission } from './permission-table.ts'
import { groupsWithRoleBelow } from './visible-store.ts'

/** What permissions are about. */
export type Subject = Group | Project

const nounOf = { group: 'Group', project: 'Project' } as const

export async function standingOf(reading: Reading, whoever: Actor, subject: Subject): Promise<Standing> {
  const actor = isOfOtherJob(whoever, subject) ? undefined : whoever
  const standing: Standing = {
    level: actor === undefined ? 0 : await levelIn(reading, actor.id, subject),
    visibility: subject.visibility,
    isSignedIn: actor !== undefined,
    isAdministrator: actor?.isAdministrator === true,
    isArchived: subject.kind === 'project' && subject.isArchived,
  }
  // Asked only where the answer counts: a group that is seen anyway costs no second query.
  if (actor === undefined || subject.kind === 'project' || canSee(standing)) return standing
  return { ...standing, hasRoleBelow: await hasRoleBelow(reading, actor.id, subject) }
}

/** Of many at once, in their order; three queries at most. */
export async function standingsOf(
  reading: Reading,
  whoever: Actor,
  subjects: readonly Subject[],
): Promise<readonly Standing[]> {
  const levelOf = whoever === undefined ? () => 0 as const : await levelsIn(reading, whoever.id, subjects)
  const standings = subjects.map((subject): Standing => {
    const actor = isOfOtherJob(whoever, subject) ? undefined : whoever
    return {
      level: actor === undefined ? 0 : levelOf(subject),
      visibility: subject.visibility,
      isSignedIn: actor !== undefined,
      isAdministrator: actor?.isAdministrator === true,
      isArchived: subject.kind === 'project' && subject.isArchived,
    }
  })
  const asked = subjects.filter(({ kind }, index) => kind === 'group' && standings[index]!.isSignedIn)
  const below = await groupsWithRoleBelow(reading, whoever, asked)
  return standings.map((standing, index) =>
    subjects[index]!.kind === 'group' && below.has(subjects[index]!.id)
      ? { ...standing, hasRoleBelow: true }
      : standing,
  )
}

const isOfOtherJob = (actor: Actor, { kind, id }: Subject): boolean =>
  actor?.jobProjectId !== undefined && !(kind === 'project' && id === actor.jobProjectId)

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
