import { isInForce } from '../../base/access/membership.ts'
import { hasLevelInGroup } from '../../base/access/visible-store.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import { type AccessLevel, accessLevels } from '../../base/model/access-level.ts'

/** The limit of groups in one claim. */
const MAX_GROUPS = 2_000

/** Returns the full paths of the groups in which the user has a direct or inherited role, ordered by path. */
export async function groupPathsOf(context: ReadContext, userId: number): Promise<string[]> {
  const rows = await context.db
    .selectFrom('groups')
    .select('full_path')
    .where(hasLevelInGroup(context, userId, accessLevels.guest))
    .orderBy('full_path')
    .limit(MAX_GROUPS)
    .execute()
  return rows.map((row) => row.full_path)
}

export interface DirectGroup {
  readonly fullPath: string
  readonly level: AccessLevel
}

/** Returns the groups in which the user was directly given a role above minimal access, ordered by path. */
export async function directGroupsOf(context: ReadContext, userId: number): Promise<DirectGroup[]> {
  const rows = await context.db
    .selectFrom('members')
    .innerJoin('groups', 'groups.id', 'members.group_id')
    .select(['groups.full_path', 'members.access_level'])
    .where('members.user_id', '=', userId)
    .where('members.access_level', '>', accessLevels.minimal)
    .where(isInForce(context))
    .orderBy('groups.full_path')
    .limit(MAX_GROUPS)
    .execute()
  return rows.map((row) => ({ fullPath: row.full_path, level: row.access_level as AccessLevel }))
}
