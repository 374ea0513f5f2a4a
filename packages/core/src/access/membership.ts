import type { Generated } from 'kysely'
import type { Group } from '../groups/group.ts'
import type { Reading, Tx } from '../kit/context.ts'
import type { Project } from '../projects/project.ts'
import { type AccessLevel, accessLevels } from './access-level.ts'

declare module '../kit/tables.ts' {
  interface CoreTables {
    members: MembersTable
  }
}

export interface MembersTable {
  id: Generated<number>
  user_id: number
  /** One of the two. */
  group_id: number | null
  project_id: number | null
  access_level: number
  /** `YYYY-MM-DD`; ends at the beginning of that day. */
  expires_at: string | null
  created_by_id: number | null
  created_at_ms: number
}

/**
 * The highest role a user has in it: its own, or one in the groups above it, unless it has ended. 0 for none. Minimal access
 * is a role in its own group only, and is not inherited.
 */
export async function levelIn(
  { db, nowMs }: Reading,
  userId: number,
  subject: Pick<Group, 'kind' | 'id' | 'groupIds'> | Pick<Project, 'kind' | 'id' | 'groupIds'>,
): Promise<AccessLevel> {
  const { level } = await db
    .selectFrom('members')
    .select(({ fn }) => fn.max<number | null>('access_level').as('level'))
    .where('user_id', '=', userId)
    .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', todayOf(nowMs))]))
    .where((eb) =>
      eb.or([
        ...(subject.groupIds.length > 0
          ? [
              eb.and([
                eb('group_id', 'in', [...subject.groupIds]),
                eb.or([
                  eb('access_level', '>', accessLevels.minimal),
                  ...(subject.kind === 'group' ? [eb('group_id', '=', subject.id)] : []),
                ]),
              ]),
            ]
          : []),
        ...(subject.kind === 'project'
          ? [eb.and([eb('project_id', '=', subject.id), eb('access_level', '>', accessLevels.minimal)])]
          : []),
      ]),
    )
    .executeTakeFirstOrThrow()
  return (level ?? 0) as AccessLevel
}

/** `YYYY-MM-DD`: roles that end on this day or before have ended. */
export const todayOf = (nowMs: number): string => new Date(nowMs).toISOString().slice(0, 10)

export interface MemberDraft {
  readonly userId: number
  readonly level: AccessLevel
  /** `YYYY-MM-DD` */
  readonly expiresAt?: string
  readonly createdById?: number
}

/** @throws the database's error when the user is a member of it already */
export async function insertMember(
  { db, nowMs }: Pick<Tx, 'db' | 'nowMs'>,
  subject: Pick<Group, 'kind' | 'id'> | Pick<Project, 'kind' | 'id'>,
  { userId, level, expiresAt, createdById }: MemberDraft,
): Promise<void> {
  await db
    .insertInto('members')
    .values({
      user_id: userId,
      group_id: subject.kind === 'group' ? subject.id : null,
      project_id: subject.kind === 'project' ? subject.id : null,
      access_level: level,
      expires_at: expiresAt ?? null,
      created_by_id: createdById ?? null,
      created_at_ms: nowMs,
    })
    .execute()
}

/** Whether the user has a role in something below the group: a subgroup, or a project. */
export async function hasRoleBelow(
  { db, nowMs }: Reading,
  userId: number,
  { groupIds }: Pick<Group, 'groupIds'>,
): Promise<boolean> {
  const below = `/${groupIds.join('/')}/%`
  const row = await db
    .selectFrom('members')
    .leftJoin('groups', 'groups.id', 'members.group_id')
    .leftJoin('projects', 'projects.id', 'members.project_id')
    .select('members.id')
    .where('members.user_id', '=', userId)
    .where((eb) => eb.or([eb('members.expires_at', 'is', null), eb('members.expires_at', '>', todayOf(nowMs))]))
    .where((eb) => eb.or([eb('groups.lineage', 'like', below), eb('projects.lineage', 'like', below)]))
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}
