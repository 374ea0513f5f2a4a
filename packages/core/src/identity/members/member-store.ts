import { type Selectable, type SelectQueryBuilder, sql } from 'kysely'
import {
  isGivenIn,
  isInForce,
  type MemberCondition,
  type MembersTable,
  type Reach,
} from '../../base/access/membership.ts'
import type { Subject } from '../../base/access/subject.ts'
import { containsText } from '../../base/kit/contains-text.ts'
import { mapPage, type Page, type PageRequest, pageOf } from '../../base/kit/page.ts'
import type { ReadContext, WriteContext } from '../../base/kit/store-context.ts'
import type { CoreTables } from '../../base/kit/tables.ts'
import { type AccessLevel, accessLevels } from '../../base/model/access-level.ts'
import type { Group } from '../../base/model/group.ts'
import { belongsTo, parentColumns } from '../../base/model/parent.ts'
import type { Tx } from '../../base/operations/context.ts'
import { lineageOf } from '../groups/group-store.ts'
import { findUsers } from '../users/user-store.ts'
import { deleteSettledRequests } from './access-request-table.ts'
import type { Member } from './member.ts'

interface MemberFilter {
  /** A part of the name or username. */
  readonly search?: string | undefined
  readonly userIds?: readonly number[] | undefined
  readonly exceptUserIds?: readonly number[] | undefined
}

interface MemberDraft {
  readonly userId: number
  readonly level: AccessLevel
  /** `YYYY-MM-DD` */
  readonly expiresAt?: string
  readonly createdById?: number
}

/**
 * Inserts a member, and deletes the user's requests for access there and below.
 *
 * @throws the database's error if the user is already a member of the group or project
 */
export async function insertMember(
  { db, nowMs }: WriteContext,
  subject: Subject,
  { userId, level, expiresAt, createdById }: MemberDraft,
): Promise<void> {
  await db
    .insertInto('members')
    .values({
      user_id: userId,
      ...parentColumns(subject),
      access_level: level,
      expires_at: expiresAt ?? null,
      created_by_id: createdById ?? null,
      created_at_ms: nowMs,
    })
    .execute()
  await deleteSettledRequests({ db }, subject, { userId, level })
}

/** Returns one page of members, ordered by the time of joining. */
export async function pageOfMembers(
  context: ReadContext,
  subject: Subject,
  reach: Reach,
  { search, userIds, exceptUserIds }: MemberFilter,
  page: PageRequest,
): Promise<Page<Member>> {
  let query = membersOf(context, subject, reach)
  if (search !== undefined)
    query = query
      .innerJoin('users', 'users.id', 'members.user_id')
      .where(containsText(context, ['users.name', 'users.username'], search)) as typeof query
  if (userIds !== undefined) query = query.where('members.user_id', 'in', [...userIds])
  if (exceptUserIds !== undefined && exceptUserIds.length > 0)
    query = query.where('members.user_id', 'not in', [...exceptUserIds])
  const rows = await pageOf(context, query.orderBy('members.id'), page)
  const members = await membersOfRows(context, rows.items)
  const memberById = new Map(rows.items.map((row, index) => [row.id, members[index]!]))
  return mapPage(rows, ({ id }) => memberById.get(id)!)
}

export async function findMember(
  context: ReadContext,
  subject: Subject,
  userId: number,
  reach: Reach,
): Promise<Member | undefined> {
  const rows = await membersOf(context, subject, reach).where('members.user_id', '=', userId).limit(1).execute()
  return (await membersOfRows(context, rows))[0]
}

const membersOf = (context: ReadContext, subject: Subject, reach: Reach) =>
  highestMemberships(context, isGivenIn(subject, reach))

/** Returns the query for the matching memberships in force, with the highest role of each user. */
export function highestMemberships(
  context: ReadContext,
  matches: MemberCondition,
): SelectQueryBuilder<CoreTables, 'members', Selectable<MembersTable>> {
  const candidates = context.db.selectFrom('members').where(isInForce(context)).where(matches)
  // Each user counts with the highest role, and of equal roles with the latest.
  const best = candidates
    .select(({ fn }) => [
      'members.id as best_id',
      fn
        .agg<number>('row_number')
        .over((over) =>
          over.partitionBy('members.user_id').orderBy('members.access_level', 'desc').orderBy('members.id', 'desc'),
        )
        .as('place'),
    ])
    .as('best')
  return context.db
    .selectFrom('members')
    .selectAll('members')
    .where('members.id', 'in', (eb) => eb.selectFrom(best).select('best.best_id').where('best.place', '=', 1))
}

export async function membersOfRows(
  context: ReadContext,
  rows: readonly Selectable<MembersTable>[],
): Promise<Member[]> {
  const users = await findUsers(
    context,
    rows.flatMap((row) => [row.user_id, row.created_by_id ?? []].flat()),
  )
  return rows.map((row) => ({
    id: row.id,
    user: users.get(row.user_id)!,
    level: row.access_level as AccessLevel,
    expiresAt: row.expires_at ?? undefined,
    createdAtMs: row.created_at_ms,
    updatedAtMs: row.updated_at_ms ?? row.created_at_ms,
    createdBy: row.created_by_id === null ? undefined : users.get(row.created_by_id),
    groupId: row.group_id ?? undefined,
    projectId: row.project_id ?? undefined,
  }))
}

/** Gives the user a role directly in the subject; replaces the present one, even if it has expired. */
export async function setMember(tx: Pick<Tx, 'db' | 'nowMs'>, subject: Subject, draft: MemberDraft): Promise<void> {
  await deleteMember(tx, subject, draft.userId)
  await insertMember(tx, subject, draft)
}

export async function updateMemberRow(
  { db, nowMs }: Pick<Tx, 'db' | 'nowMs'>,
  subject: Subject,
  userId: number,
  { level, expiresAt }: { readonly level: AccessLevel; readonly expiresAt: string | undefined },
): Promise<void> {
  await db
    .updateTable('members')
    .set({ access_level: level, expires_at: expiresAt ?? null, updated_at_ms: nowMs })
    .where('user_id', '=', userId)
    .where(belongsTo(subject))
    .execute()
  // A role above Minimal access is inherited below.
  await deleteSettledRequests({ db }, subject, { userId, level })
}

export async function deleteMember({ db }: Pick<Tx, 'db'>, subject: Subject, userId: number): Promise<void> {
  await db.deleteFrom('members').where('user_id', '=', userId).where(belongsTo(subject)).execute()
}

/** Deletes the roles given in subgroups and projects of the group, except in projects of the user's own namespace. */
export async function deleteMembersBelow({ db }: Pick<Tx, 'db'>, { groupIds }: Group, userId: number): Promise<void> {
  const lineage = lineageOf(groupIds)
  await db
    .deleteFrom('members')
    .where('user_id', '=', userId)
    .where((eb) =>
      eb.or([
        eb('group_id', 'in', eb.selectFrom('groups').select('groups.id').where('lineage', 'like', `${lineage}_%`)),
        eb('project_id', 'in', eb.selectFrom('projects').select('projects.id').where('lineage', 'like', `${lineage}%`)),
      ]),
    )
    .execute()
}

/**
 * Returns whether the group has an owner without the user's role in it: an owner of this group or of a group above, and
 * without an expiry date.
 */
export async function hasOtherOwner(context: ReadContext, group: Group, userId: number): Promise<boolean> {
  return (await groupsWithOtherOwner(context, [group], userId)).has(group.id)
}

/** Returns the ids of the groups with another owner, as defined by `hasOtherOwner`. */
export async function groupsWithOtherOwner(
  { db }: ReadContext,
  groups: readonly Group[],
  userId: number,
): Promise<ReadonlySet<number>> {
  if (groups.length === 0) return new Set()
  const owners = await db
    .selectFrom('members')
    .innerJoin('users', 'users.id', 'members.user_id')
    .select(['members.group_id', sql<number>`max(case when members.user_id = ${userId} then 0 else 1 end)`.as('other')])
    .where('members.group_id', 'in', [...new Set(groups.flatMap(({ groupIds }) => groupIds))])
    .where('members.access_level', '=', accessLevels.owner)
    .where('members.expires_at', 'is', null)
    .where('users.is_bot', '=', 0)
    .groupBy('members.group_id')
    .execute()
  const isOwnedByOther = new Map(owners.map((row) => [row.group_id, Number(row.other) === 1]))
  const isOwned = ({ id, groupIds }: Group) =>
    groupIds.some((groupId) => isOwnedByOther.get(groupId) ?? false) ||
    groupIds.some((groupId) => groupId !== id && isOwnedByOther.has(groupId))
  return new Set(groups.filter(isOwned).map(({ id }) => id))
}

/**
 * Returns the roles that the user was directly given in the subjects, in a map with keys such as `group:16` and
 * `project:5`.
 */
export async function directLevels(
  context: ReadContext,
  userId: number,
  subjects: readonly Subject[],
): Promise<ReadonlyMap<string, AccessLevel>> {
  const idsOf = (kind: Subject['kind']) => [...new Set(subjects.flatMap((each) => (each.kind === kind ? each.id : [])))]
  const rows = await context.db
    .selectFrom('members')
    .select(['group_id', 'project_id', 'access_level'])
    .where('user_id', '=', userId)
    .where(isInForce(context))
    .where((eb) => {
      const [groupIds, projectIds] = [idsOf('group'), idsOf('project')]
      return eb.or([
        ...(groupIds.length > 0 ? [eb('group_id', 'in', groupIds)] : []),
        ...(projectIds.length > 0 ? [eb('project_id', 'in', projectIds)] : []),
      ])
    })
    .execute()
  return new Map(
    rows.map((row) => [
      row.group_id === null ? `project:${row.project_id}` : `group:${row.group_id}`,
      row.access_level as AccessLevel,
    ]),
  )
}

/** Returns whether the user is the only owner of a top-level group. */
export async function isSoleOwnerOfTopGroup({ db }: ReadContext, userId: number): Promise<boolean> {
  const row = await db
    .selectFrom('members')
    .innerJoin('groups', 'groups.id', 'members.group_id')
    .select('members.id')
    .where('members.user_id', '=', userId)
    .where('members.access_level', '=', accessLevels.owner)
    .where('groups.parent_id', 'is', null)
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('members as others')
            .innerJoin('users as owners', 'owners.id', 'others.user_id')
            .select('others.id')
            .whereRef('others.group_id', '=', 'members.group_id')
            .where('others.access_level', '=', accessLevels.owner)
            .where('others.expires_at', 'is', null)
            .where('owners.is_bot', '=', 0)
            .where('others.user_id', '!=', userId),
        ),
      ),
    )
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}
