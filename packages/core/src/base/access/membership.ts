import { Lookup } from '@penstock/db'
import type { Expression, ExpressionBuilder, Generated, SqlBool } from 'kysely'
import { never } from '../kit/conditions.ts'
import { dayAt } from '../kit/day.ts'
import type { ReadContext } from '../kit/store-context.ts'
import type { CoreTables } from '../kit/tables.ts'
import { type AccessLevel, accessLevels } from '../model/access-level.ts'
import type { Group } from '../model/group.ts'
import type { Project } from '../model/project.ts'

declare module '../kit/tables.ts' {
  interface CoreTables {
    members: MembersTable
  }
}

export interface MembersTable {
  id: Generated<number>
  user_id: number
  /** Exactly one of `group_id` and `project_id` is set. */
  group_id: number | null
  project_id: number | null
  access_level: number
  /** `YYYY-MM-DD`; the role ends at the beginning of that day. */
  expires_at: string | null
  created_by_id: number | null
  created_at_ms: number
  /** The time of the last change; null if the row has not changed since this column exists. */
  updated_at_ms: Generated<number | null>
}

/**
 * Returns the user's highest role in force in the group or project, including roles given in the groups above it; 0 if
 * there is none. Minimal access is not inherited: it counts only in the group where it was given.
 */
export async function levelIn({ db, nowMs }: ReadContext, userId: number, subject: Place): Promise<AccessLevel> {
  const { kind, id, groupIds } = subject
  const row = await levels[kind].run(db, userId, dayAt(nowMs), id, ...groupIds)
  return (row?.level ?? 0) as AccessLevel
}

const levelsOf = (kind: Place['kind']) =>
  new Lookup((db: ReadContext['db'], userId: number, today: string, id: number, ...groupIds: number[]) =>
    db
      .selectFrom('members')
      .select(({ fn }) => fn.max<number | null>('access_level').as('level'))
      .where('user_id', '=', userId)
      .where(isInForceOn(today))
      .where(isGivenIn({ kind, id, groupIds }, 'inherited')),
  )
const levels = { group: levelsOf('group'), project: levelsOf('project') }

type Place = Pick<Group, 'kind' | 'id' | 'groupIds'> | Pick<Project, 'kind' | 'id' | 'groupIds'>

/** Works like `levelIn` for many groups and projects. */
export async function levelsIn(
  context: ReadContext,
  userId: number,
  subjects: readonly Place[],
): Promise<(subject: Place) => AccessLevel> {
  const levelOf = await levelsOfUsersIn(context, [userId], subjects)
  return (subject) => levelOf(userId, subject)
}

/** Works like `levelIn` for many users, groups and projects. */
export async function levelsOfUsersIn(
  context: ReadContext,
  userIds: readonly number[],
  subjects: readonly Place[],
): Promise<(userId: number, subject: Place) => AccessLevel> {
  const groupIds = [...new Set(subjects.flatMap((subject) => subject.groupIds))]
  const projectIds = subjects.flatMap(({ kind, id }) => (kind === 'project' ? id : []))
  if (subjects.length === 0 || userIds.length === 0) return () => 0
  const rows = await context.db
    .selectFrom('members')
    .select(['user_id', 'group_id', 'project_id', 'access_level'])
    .where('user_id', 'in', [...new Set(userIds)])
    .where(isInForce(context))
    .where((eb) =>
      eb.or([
        ...(groupIds.length > 0 ? [eb('group_id', 'in', groupIds)] : []),
        ...(projectIds.length > 0 ? [eb('project_id', 'in', projectIds)] : []),
      ]),
    )
    .execute()
  const place = (kind: Place['kind'], id: number | null, userId: number) => `${kind}:${id}:${userId}`
  const levelOf = new Map(
    rows.map((row) => [
      row.group_id === null ? place('project', row.project_id, row.user_id) : place('group', row.group_id, row.user_id),
      row.access_level,
    ]),
  )
  return (userId, { kind, id, groupIds: above }) => {
    const own = levelOf.get(place(kind, id, userId)) ?? 0
    const levels = [own, ...above.map((groupId) => levelOf.get(place('group', groupId, userId)) ?? 0)]
    const counting = levels.filter((level) => level > accessLevels.minimal || (kind === 'group' && level === own))
    return Math.max(0, ...counting) as AccessLevel
  }
}

/** `direct` means roles given in the group or project itself, `inherited` also those given in the groups above. */
export type Reach = 'direct' | 'inherited'

export type MemberCondition = (eb: ExpressionBuilder<CoreTables, 'members'>) => Expression<SqlBool>

/** Selects the memberships that count in a group or project. Minimal access counts in its own group only. */
export const isGivenIn =
  (subject: Pick<Place, 'kind' | 'id' | 'groupIds'>, reach: Reach): MemberCondition =>
  (eb) => {
    const isMore = eb('members.access_level', '>', accessLevels.minimal)
    const own =
      subject.kind === 'group'
        ? eb('members.group_id', '=', subject.id)
        : eb.and([eb('members.project_id', '=', subject.id), isMore])
    const above = reach === 'inherited' ? subject.groupIds : []
    return above.length === 0 ? own : eb.or([own, eb.and([eb('members.group_id', 'in', [...above]), isMore])])
  }

/** Selects the memberships that count in a group or project and were given in the groups above it. */
export const isGivenAbove =
  ({
    kind,
    id,
    groupIds,
  }: Pick<Group, 'kind' | 'id' | 'groupIds'> | Pick<Project, 'kind' | 'id' | 'groupIds'>): MemberCondition =>
  (eb) => {
    const above = kind === 'group' ? groupIds.filter((groupId) => groupId !== id) : [...groupIds]
    if (above.length === 0) return never
    return eb.and([eb('members.group_id', 'in', above), eb('members.access_level', '>', accessLevels.minimal)])
  }

/** Selects the memberships that are in force: their expiry date is later than today. */
export const isInForce = ({ nowMs }: Pick<ReadContext, 'nowMs'>): MemberCondition => isInForceOn(dayAt(nowMs))

const isInForceOn =
  (today: string): MemberCondition =>
  (eb) =>
    eb.or([eb('members.expires_at', 'is', null), eb('members.expires_at', '>', today)])

/** Returns whether the user has a role in a subgroup or project below the group. */
export async function hasRoleBelow(
  context: ReadContext,
  userId: number,
  { groupIds }: Pick<Group, 'groupIds'>,
): Promise<boolean> {
  const below = `/${groupIds.join('/')}/%`
  const row = await context.db
    .selectFrom('members')
    .leftJoin('groups', 'groups.id', 'members.group_id')
    .leftJoin('projects', 'projects.id', 'members.project_id')
    .select('members.id')
    .where('members.user_id', '=', userId)
    .where(isInForce(context))
    .where((eb) => eb.or([eb('groups.lineage', 'like', below), eb('projects.lineage', 'like', below)]))
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}
