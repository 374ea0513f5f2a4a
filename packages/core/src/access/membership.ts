import type { Generated } from 'kysely'
import type { Group } from '../groups/group.ts'
import type { Reading, Tx } from '../kit/context.ts'
import type { Project } from '../projects/project.ts'
import type { AccessLevel } from './access-level.ts'

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

/** The highest role a user has in it: its own, or one in the groups above it, unless it has ended. 0 for none. */
export async function levelIn(
  { db, nowMs }: Reading,
  userId: number,
  subject: Pick<Group, 'kind' | 'id' | 'groupIds'> | Pick<Project, 'kind' | 'id' | 'groupIds'>,
): Promise<AccessLevel> {
  const today = new Date(nowMs).toISOString().slice(0, 10)
  const { level } = await db
    .selectFrom('members')
    .select(({ fn }) => fn.max<number | null>('access_level').as('level'))
    .where('user_id', '=', userId)
    .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', today)]))
    .where((eb) =>
      eb.or([
        ...(subject.groupIds.length > 0 ? [eb('group_id', 'in', [...subject.groupIds])] : []),
        ...(subject.kind === 'project' ? [eb('project_id', '=', subject.id)] : []),
      ]),
    )
    .executeTakeFirstOrThrow()
  return (level ?? 0) as AccessLevel
}

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
