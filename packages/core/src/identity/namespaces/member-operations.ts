import { z } from 'zod'
import { canSee, type Standing } from '../../base/access/can.ts'
import type { Reach } from '../../base/access/membership.ts'
import { requirePermission, type Subject, standingOf } from '../../base/access/subject.ts'
import { forbidden, invalid, notFound } from '../../base/kit/domain-error.ts'
import { listedEach } from '../../base/kit/listing.ts'
import { pageInput } from '../../base/kit/page.ts'
import { clearable, day, dayOrInstant, namespaceRef } from '../../base/kit/parameter-schemas.ts'
import { acrossParameters, problem } from '../../base/kit/parse-input.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import { type AccessLevel, accessLevels } from '../../base/model/access-level.ts'
import { accessLevelInput } from '../../base/model/access-level-input.ts'
import type { User } from '../../base/model/user.ts'
import type { OperationContext, Tx } from '../../base/operations/context.ts'
import { batchQuery, command, query, unscopedBatchQuery, unscopedCommand } from '../../base/operations/operation.ts'
import { settingOf } from '../../base/settings/setting-of.ts'
import { getGroup } from '../groups/group-store.ts'
import type { Member } from '../members/member.ts'
import {
  addMember,
  getMember,
  recordMemberEvent,
  requireNotAbove,
  validateMembership,
} from '../members/member-changes.ts'
import { memberListing, membershipListing, membersOfEachInput } from '../members/member-list-store.ts'
import {
  deleteMember,
  deleteMembersBelow,
  findMember,
  hasOtherOwner,
  pageOfMembers,
  updateMemberRow,
} from '../members/member-store.ts'
import { getProject } from '../projects/project-store.ts'
import { findUserByUsername, getUser } from '../users/user-store.ts'

/** The limit of members changed by one request. */
const MAX_CHANGED = 100
const MAX_NAMES_LENGTH = 4_096

/** Parts of the names of operations. */
const namesOfReach = { direct: 'Direct', inherited: 'Inherited' } as const satisfies Record<Reach, string>

/** The operations on members. Groups and projects differ in who may change them, and in the rules about owners. */
export const groupMembers = membersOf('Group', 'admin_group_members', getGroup)
export const projectMembers = membersOf('Project', 'admin_project_members', getProject)

function membersOf(
  owner: 'Group' | 'Project',
  permission: 'admin_group_members' | 'admin_project_members',
  find: (context: ReadContext, ref: number | string) => Promise<Subject>,
) {
  const subject = (context: ReadContext, { parent }: { readonly parent: number | string }) => find(context, parent)
  const reads = { caller: 'anyone', permission: 'read_members', subject } as const
  const writes = { permission, subject } as const
  const one = z.object({ parent: namespaceRef, userId: z.int() })

  const list = (reach: Reach) =>
    query(
      {
        name: `list${namesOfReach[reach]}${owner}Members`,
        input: z.object({
          parent: namespaceRef,
          query: z.string().max(255).optional(),
          userIds: z.array(z.int()).max(100).optional(),
          skipUsers: z.array(z.int()).max(100).optional(),
          ...pageInput,
        }),
        ...reads,
      },
      (context, { query: search, userIds, skipUsers: exceptUserIds, ...page }) =>
        pageOfMembers(context, context.subject, reach, { search: search || undefined, userIds, exceptUserIds }, page),
    )

  const show = (reach: Reach) =>
    query({ name: `show${namesOfReach[reach]}${owner}Member`, input: one, ...reads }, (context, { userId }) =>
      getMember(context, context.subject, userId, reach),
    )

  return {
    list: list('direct'),
    listAll: list('inherited'),
    /** Lists the members of each subject by the given relations; by default direct and inherited ones. */
    listEach: batchQuery(
      { name: `list${owner}MembersOfEach`, input: membersOfEachInput, permission: 'read_members' },
      async (context, subjects: readonly Subject[], input) =>
        listedEach(memberListing(context, context.actor, subjects, input), subjects.length),
    ),
    show: show('direct'),
    showAll: show('inherited'),

    /** Adds users, named by ids or by usernames: all of them, or none. */
    add: command(
      {
        name: `add${owner}Member`,
        input: z
          .object({
            parent: namespaceRef,
            accessLevel: accessLevelInput,
            userId: z.union([z.int(), z.array(z.int()).min(1).max(MAX_CHANGED)]).optional(),
            /** One name, or several with commas between them. */
            username: z
              .string()
              .min(1)
              .max(MAX_NAMES_LENGTH)
              .refine((names) => names.split(',').length <= MAX_CHANGED)
              .optional(),
            expiresAt: clearable(day),
          })
          .superRefine(({ userId, username }, context) => {
            const names = ['userId', 'username'] as const
            if (userId !== undefined && username !== undefined)
              context.addIssue(problem('mutually_exclusive', { names }))
            if (userId === undefined && username === undefined) context.addIssue(problem('at_least_one', { names }))
          }, acrossParameters),
        ...writes,
      },
      async (tx, { userId, username, accessLevel: level, expiresAt }): Promise<AddedMembers> => {
        const standing = await standingOf(tx, tx.actor, tx.subject)
        await requireInvitations(tx, standing)
        const users = await namedUsers(tx, userId, username)
        requireNotAbove(standing, level)
        const members: Member[] = []
        for (const user of users) members.push(await addMember(tx, user, level, expiresAt ?? undefined))
        return { members }
      },
    ),

    update: command(
      {
        name: `update${owner}Member`,
        input: one.extend({ accessLevel: accessLevelInput, expiresAt: clearable(day) }),
        ...writes,
      },
      async (tx, { userId, ...change }): Promise<Member> => {
        const before = await getMember(tx, tx.subject, userId, 'direct')
        return updateMember(tx, tx.subject, await standingOf(tx, tx.actor, tx.subject), before, change)
      },
    ),

    /** Changes all of the members, or none. */
    updateMany: command(
      {
        name: `update${owner}Members`,
        input: z.object({
          parent: namespaceRef,
          userIds: z.array(z.int()).max(MAX_CHANGED),
          accessLevel: accessLevelInput,
          expiresAt: clearable(dayOrInstant),
        }),
        ...writes,
      },
      async (tx, { userIds, ...change }): Promise<readonly Member[]> => {
        const standing = await standingOf(tx, tx.actor, tx.subject)
        const members: Member[] = []
        for (const userId of new Set(userIds)) {
          const before = await findMember(tx, tx.subject, userId, 'direct')
          if (before === undefined) throw invalid({ base: ['Only the roles of direct members can be changed'] })
          members.push(await updateMember(tx, tx.subject, standing, before, change))
        }
        return members
      },
    ),

    /**
     * Removes a member. Members may also remove themselves. In a group, also removes the roles below it, unless
     * `skipSubresources`.
     */
    remove: unscopedCommand(
      {
        name: `remove${owner}Member`,
        input: one.extend({ skipSubresources: z.boolean().default(false) }),
        isConditional: true,
      },
      async (tx, { parent, userId, skipSubresources }): Promise<void> => {
        const from = await find(tx, parent)
        const standing = await standingOf(tx, tx.actor, from)
        const isLeaving = userId === tx.actor!.id && canSee(standing)
        if (!isLeaving) await requirePermission(tx, from, permission)
        const member = await getMember(tx, from, userId, 'direct')
        if (!isLeaving) requireNotAbove(standing, member.level)
        await requireNotLastOwner(tx, from, member)
        tx.requireUnmodified(member.updatedAtMs)
        await deleteMember(tx, from, userId)
        if (from.kind === 'group' && !skipSubresources) await deleteMembersBelow(tx, from, userId)
        await recordMemberEvent(tx, from, 'removed', { before: member, details: { level: member.level } })
      },
    ),
  }
}

/**
 * Lists the memberships of users, either in groups or in projects, except those in which the actor may not see members.
 */
export const listMembershipsOfEach = unscopedBatchQuery(
  { name: 'listMembershipsOfEach', input: z.object({ where: z.enum(['groups', 'projects']) }) },
  async (context, users: readonly User[], { where }) =>
    listedEach(membershipListing(context, context.actor, users, where), users.length),
)

/** The members that one request added. */
export interface AddedMembers {
  readonly members: readonly Member[]
}

/** Rejects adding members while only administrators invite them. @throws DomainError `forbidden` */
async function requireInvitations({ core }: OperationContext, { isAdministrator }: Standing): Promise<void> {
  if (!isAdministrator && (await settingOf(core, 'disable_invite_members'))) throw forbidden()
}

/**
 * Returns users without duplicates, given by ids or by names that are separated by commas.
 * @throws DomainError `not_found`
 */
async function namedUsers(
  tx: Tx,
  userId: number | readonly number[] | undefined,
  usernames: string | undefined,
): Promise<User[]> {
  const refs = userId === undefined ? usernames!.split(',').map((name) => name.trim()) : [userId].flat()
  const users = new Map<number, User>()
  for (const ref of new Set<number | string>(refs)) {
    const user = await (typeof ref === 'number' ? getUser(tx, ref) : findUserByUsername(tx, ref))
    if (user === undefined) throw notFound('User')
    users.set(user.id, user)
  }
  return [...users.values()]
}

async function updateMember(
  tx: OperationContext & Tx,
  subject: Subject,
  standing: Standing,
  before: Member,
  { accessLevel: level, expiresAt: wanted }: { accessLevel: AccessLevel; expiresAt?: string | null | undefined },
): Promise<Member> {
  const userId = before.user.id
  requireNotAbove(standing, before.level)
  requireNotAbove(standing, level)
  const expiresAt = wanted === undefined ? before.expiresAt : (wanted ?? undefined)
  if (level < accessLevels.owner || expiresAt !== undefined) await requireNotLastOwner(tx, subject, before)
  await validateMembership(tx, subject, before.user, level, wanted ?? undefined)
  await updateMemberRow(tx, subject, userId, { level, expiresAt })
  const after = await getMember(tx, subject, userId, 'direct')
  await recordMemberEvent(tx, subject, 'updated', { before, after, details: { from: before.level, level } })
  return after
}

/**
 * Rejects the removal of a group's last owner, where owners with an expiry date do not count, and of the user who owns
 * the project's namespace.
 */
async function requireNotLastOwner(context: ReadContext, subject: Subject, { user, level }: Member): Promise<void> {
  if (subject.kind === 'project') {
    if (subject.ownerId === user.id) throw forbidden()
    return
  }
  if (level < accessLevels.owner) return
  if (!(await hasOtherOwner(context, subject, user.id))) throw forbidden()
}
