import { type Generated, sql } from 'kysely'
import { insertRow, updateRow } from '../../base/kit/row-store.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import { belongsTo, type ParentColumns, type ParentRef, parentColumns } from '../../base/model/parent.ts'
import type { Project } from '../../base/model/project.ts'
import type { Tx } from '../../base/operations/context.ts'
import type { NotificationLevel, NotificationSetting, SwitchValues } from './notification-level.ts'

declare module '../../base/kit/tables.ts' {
  interface CoreTables {
    notification_settings: NotificationSettingsTable
  }
}

/** Without group and project, the row is the user's setting for everything. */
interface NotificationSettingsTable extends ParentColumns {
  id: Generated<number>
  user_id: number
  level: NotificationLevel
  /** JSON, see `SwitchValues`. */
  switches: string
  /** The address for the notifications. Missing: that of the next setting above. */
  email: string | null
}

/** A setting with the address that it selects. */
export interface StoredSetting extends NotificationSetting {
  readonly id: number
  readonly email: string | undefined
}

/** Returns the setting of a user for a group or project, or for everything; `undefined` if the user has not made it. */
export async function findNotificationSetting(
  { db }: ReadContext,
  userId: number,
  parent: ParentRef | undefined,
): Promise<StoredSetting | undefined> {
  const all = db.selectFrom('notification_settings').selectAll().where('user_id', '=', userId)
  const row = await all
    .where(parent === undefined ? sql<boolean>`group_id is null and project_id is null` : belongsTo(parent))
    .executeTakeFirst()
  return (
    row && {
      id: row.id,
      level: row.level,
      switches: JSON.parse(row.switches) as SwitchValues,
      email: row.email ?? undefined,
    }
  )
}

/** Stores a setting, which `before` is the stored form of. */
export async function saveNotificationSetting(
  tx: Tx,
  { userId, parent }: { readonly userId: number; readonly parent: ParentRef | undefined },
  before: StoredSetting | undefined,
  { level, switches, email }: Omit<StoredSetting, 'id'>,
): Promise<number> {
  const columns = { level, switches: JSON.stringify(switches), email: email ?? null }
  if (before !== undefined) return (await updateRow(tx, 'notification_settings', before.id, columns)).id
  const ids = parent === undefined ? { group_id: null, project_id: null } : parentColumns(parent)
  return (await insertRow(tx, 'notification_settings', { user_id: userId, ...ids, ...columns })).id
}

/** Returns the addresses that a user has chosen in these groups, by group, and the one for everything as that of group 0. */
export async function notificationEmailsIn(
  { db }: ReadContext,
  userId: number,
  groupIds: readonly number[],
): Promise<ReadonlyMap<number, string>> {
  const rows = await db
    .selectFrom('notification_settings')
    .select(['group_id', 'email'])
    .where('user_id', '=', userId)
    .where('email', 'is not', null)
    .where('project_id', 'is', null)
    .where((eb) =>
      groupIds.length === 0
        ? eb('group_id', 'is', null)
        : eb.or([eb('group_id', 'is', null), eb('group_id', 'in', [...new Set(groupIds)])]),
    )
    .execute()
  return new Map(rows.map(({ group_id, email }) => [group_id ?? 0, email!]))
}

/**
 * Returns the settings of users, by user: the one for the project, then those of its groups, the nearest first, then the one for
 * everything.
 */
export async function settingsOfUsers(
  { db }: ReadContext,
  { id, groupIds }: Pick<Project, 'id' | 'groupIds'>,
  userIds: readonly number[],
): Promise<ReadonlyMap<number, readonly (NotificationSetting | undefined)[]>> {
  const rows = await db
    .selectFrom('notification_settings')
    .select(['user_id', 'group_id', 'project_id', 'level', 'switches'])
    .where('user_id', 'in', userIds)
    .where((eb) =>
      eb.or([
        eb('project_id', '=', id),
        eb('group_id', 'in', [0, ...groupIds]),
        sql<boolean>`group_id is null and project_id is null`,
      ]),
    )
    .execute()
  const places = [`project ${id}`, ...groupIds.toReversed().map((groupId) => `group ${groupId}`), 'everything']
  const settings = new Map<number, (NotificationSetting | undefined)[]>()
  for (const { user_id, group_id, project_id, level, switches } of rows) {
    const place = project_id !== null ? `project ${project_id}` : group_id !== null ? `group ${group_id}` : 'everything'
    const own = settings.get(user_id) ?? places.map(() => undefined)
    own[places.indexOf(place)] = { level, switches: JSON.parse(switches) as SwitchValues }
    settings.set(user_id, own)
  }
  return settings
}

/**
 * Returns the levels of a user for the groups, or for the projects, with a setting of the user, and `global` for those of which
 * the user is a direct member without a setting: at most `limit`, by id.
 */
export async function levelsByParent(
  { db }: ReadContext,
  userId: number,
  parent: ParentRef['kind'],
  limit: number,
): Promise<ReadonlyMap<number, NotificationLevel>> {
  const column = `${parent}_id` as const
  const levels = new Map<number, NotificationLevel>()
  const settings = db.selectFrom('notification_settings').select([column, 'level']).where('user_id', '=', userId)
  for (const row of await settings.where(column, 'is not', null).orderBy('id').limit(limit).execute()) {
    levels.set(row[column]!, row.level)
  }
  const members = db.selectFrom('members').select(column).where('user_id', '=', userId)
  for (const row of await members.where(column, 'is not', null).orderBy('id').limit(limit).execute()) {
    if (levels.size < limit && !levels.has(row[column]!)) levels.set(row[column]!, 'global')
  }
  return levels
}
