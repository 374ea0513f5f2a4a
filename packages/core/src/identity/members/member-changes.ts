import type { Standing } from '../../base/access/can.ts'
import type { Reach } from '../../base/access/membership.ts'
import type { Subject } from '../../base/access/subject.ts'
import { dayAt } from '../../base/kit/day.ts'
import { DomainError, forbidden, invalid, notFound } from '../../base/kit/domain-error.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import { type AccessLevel, accessLevels } from '../../base/model/access-level.ts'
import { parentIds } from '../../base/model/parent.ts'
import type { User } from '../../base/model/user.ts'
import type { OperationContext, Tx } from '../../base/operations/context.ts'
import type { DomainEvent } from '../../base/operations/event.ts'
import { changesBetween, comparedMembers } from '../../base/operations/record-change.ts'
import { findGroup } from '../groups/group-store.ts'
import { type Member, roleNames } from './member.ts'
import { findMember, setMember } from './member-store.ts'

/**
 * Gives the user a role directly in the subject, and records it.
 *
 * @throws DomainError `conflict` if the user is a direct member already, `invalid` for a role that is not allowed there
 */
export async function addMember(
  tx: OperationContext & Tx & { readonly subject: Subject },
  user: User,
  level: AccessLevel,
  expiresAt: string | undefined,
): Promise<Member> {
  if ((await findMember(tx, tx.subject, user.id, 'direct')) !== undefined)
    throw new DomainError({ code: 'conflict', reason: 'Member already exists' })
  await validateMembership(tx, tx.subject, user, level, expiresAt)
  const draft = { userId: user.id, level, createdById: tx.actor!.id, ...(expiresAt !== undefined && { expiresAt }) }
  await setMember(tx, tx.subject, draft)
  const member = await getMember(tx, tx.subject, user.id, 'direct')
  await recordMemberEvent(tx, tx.subject, 'added', { after: member, details: { level } })
  return member
}

/** @throws DomainError `not_found` */
export async function getMember(context: ReadContext, subject: Subject, userId: number, reach: Reach): Promise<Member> {
  const member = await findMember(context, subject, userId, reach)
  if (member === undefined) throw notFound()
  return member
}

/** Rejects giving, changing or removing a role above the actor's own. @throws DomainError `forbidden` */
export function requireNotAbove({ isAdministrator, level: own }: Standing, level: AccessLevel): void {
  if (!isAdministrator && level > own) throw forbidden()
}

/** Returns whether members of the subject can have the role: Minimal access exists in groups at the top only. */
export const isPossibleLevel = (subject: Subject, level: AccessLevel): boolean =>
  level !== accessLevels.minimal || (subject.kind === 'group' && subject.parentId === undefined)

/** Rejects a role that the rules of the group or project do not allow. @throws DomainError `invalid` */
export async function validateMembership(
  tx: OperationContext & Tx,
  subject: Subject,
  { id: userId, botHome }: User,
  level: AccessLevel,
  expiresAt: string | undefined,
): Promise<void> {
  const isElsewhere = subject.id !== (subject.kind === 'project' ? botHome?.projectId : botHome?.groupId)
  if (botHome !== undefined && isElsewhere) throw invalid({ user: ['is the bot of another project or group'] })
  if (!isPossibleLevel(subject, level)) throw invalid({ accessLevel: ['is not included in the list'] })
  if (expiresAt !== undefined && expiresAt < dayAt(tx.nowMs))
    throw invalid({ expiresAt: ['cannot be a date in the past'] })
  const above = subject.groupIds.filter((id) => subject.kind === 'project' || id !== subject.id)
  const parentId = above.at(-1)
  const parent = parentId === undefined ? undefined : await findGroup(tx, parentId)
  const inherited = parent && (await findMember(tx, parent, userId, 'inherited'))
  if (inherited === undefined || inherited.level <= level || inherited.level === accessLevels.minimal) return
  const source = await findGroup(tx, inherited.groupId!)
  throw invalid({
    accessLevel: [
      `should be greater than or equal to ${roleNames[inherited.level]} inherited membership from group ${source!.name}`,
    ],
  })
}

interface MemberChange {
  readonly before?: Member
  readonly after?: Member
  readonly details: DomainEvent['details'] & object
}

/** Records an event about a user's role in the subject. Its object is the user. */
export const recordMemberEvent = (
  tx: Tx,
  subject: Subject,
  what: 'added' | 'updated' | 'removed',
  { before, after, details }: MemberChange,
): Promise<void> =>
  tx.recordEvent({
    type: `member.${what}`,
    objectId: (after ?? before)!.user.id,
    ...parentIds(subject),
    details,
    changes: changesBetween(comparedMembers<Member>()('level', 'expiresAt'), before, after),
  })
