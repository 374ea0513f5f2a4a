import { sql } from 'kysely'
import { chunked } from '../kit/chunked.ts'
import type { ReadContext } from '../kit/store-context.ts'
import type { Project } from '../model/project.ts'
import { findUsersByUsername } from '../users/user-store.ts'
import { mentionedUsernames } from './mentioned-usernames.ts'
import { effectiveSetting, type NotificationSetting, type SwitchValues } from './notification-level.ts'
import { isNotified, type Relation } from './notification-policy.ts'
import type { Notification, NotifiedKind } from './notification-store.ts'

const tables = {
  issue: { subscriptions: 'issue_subscriptions', itemId: 'issue_id' },
  merge_request: { subscriptions: 'merge_request_subscriptions', itemId: 'merge_request_id' },
} as const satisfies Record<NotifiedKind, unknown>

/** The issue or merge request of a notification, as far as the search for recipients needs it. */
export interface Notified {
  readonly project: Project
  /** The author, the assignees and the reviewers. */
  readonly participantIds: readonly number[]
  /** The new text, in which users may be mentioned. */
  readonly text: string
}

/**
 * Returns the ids of the users that a notification goes to by their settings, in the order of their ids. Whether they may read it is checked when
 * the mail is composed. Users who have unsubscribed, the user who caused it, bots and inactive users are left out.
 */
export async function recipientsOf(
  context: ReadContext,
  notification: Notification,
  { project, participantIds, text }: Notified,
): Promise<number[]> {
  const { event, kind, itemId, actorId, formerUserIds } = notification
  const relations = new Map<number, Relation>()
  for (const id of await watchersOf(context, project)) relations.set(id, 'none')
  const subscriptions = await subscriptionsOf(context, kind, itemId)
  const takingPart = [...participantIds, ...formerUserIds, ...(await commentersOf(context, kind, itemId))]
  for (const id of takingPart) relations.set(id, 'participating')
  for (const [id, isSubscribed] of subscriptions) if (isSubscribed) relations.set(id, 'participating')
  for (const { id } of await findUsersByUsername(context, mentionedUsernames(text))) relations.set(id, 'mentioned')
  for (const [id, isSubscribed] of subscriptions) if (!isSubscribed) relations.delete(id)
  if (actorId !== undefined) relations.delete(actorId)
  const recipients: number[] = []
  for (const ids of chunked([...relations.keys()].toSorted((a, b) => a - b))) {
    const settings = await settingsOfUsers(context, project, ids)
    const active = await activePeople(context, ids)
    const chosen = active.filter((id) =>
      isNotified(effectiveSetting(settings.get(id) ?? []), { event, relation: relations.get(id)! }),
    )
    recipients.push(...chosen)
  }
  return recipients
}

/** Returns the users with a level that selects events in which they do not take part. */
async function watchersOf({ db }: ReadContext, { id, groupIds }: Project): Promise<number[]> {
  const groups = [0, ...groupIds]
  const rows = await db
    .selectFrom('notification_settings')
    .select('user_id')
    .distinct()
    .where('level', 'in', ['watch', 'custom'])
    .where((eb) =>
      eb.or([
        eb('project_id', '=', id),
        eb('group_id', 'in', groups),
        eb.and([
          sql<boolean>`group_id is null and project_id is null`,
          eb.exists(
            eb
              .selectFrom('members')
              .select('members.id')
              .whereRef('members.user_id', '=', 'notification_settings.user_id')
              .where((member) =>
                member.or([member('members.project_id', '=', id), member('members.group_id', 'in', groups)]),
              ),
          ),
        ]),
      ]),
    )
    .execute()
  return rows.map(({ user_id }) => user_id)
}

async function commentersOf({ db }: ReadContext, kind: NotifiedKind, itemId: number): Promise<number[]> {
  const rows = await db
    .selectFrom('notes')
    .select('author_id')
    .distinct()
    .where(tables[kind].itemId, '=', itemId)
    .where('is_system', '=', 0)
    .where('author_id', 'is not', null)
    .execute()
  return rows.map(({ author_id }) => author_id!)
}

async function subscriptionsOf({ db }: ReadContext, kind: NotifiedKind, id: number): Promise<[number, boolean][]> {
  const { subscriptions, itemId } = tables[kind]
  const { rows } = await sql<{ user_id: number; is_subscribed: number }>`
    select user_id, is_subscribed from ${sql.table(subscriptions)} where ${sql.ref(itemId)} = ${id}`.execute(db)
  return rows.map(({ user_id, is_subscribed }) => [user_id, is_subscribed === 1])
}

async function activePeople({ db }: ReadContext, ids: readonly number[]): Promise<number[]> {
  const all = db.selectFrom('users').select('id').where('id', 'in', ids).where('state', '=', 'active')
  return (await all.where('is_bot', '=', 0).orderBy('id').execute()).map(({ id }) => id)
}

/** Returns the settings of users, by user: the one for the project, then those of its groups, the nearest first, then the one for everything. */
async function settingsOfUsers(
  { db }: ReadContext,
  { id, groupIds }: Project,
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
