import { setImmediate } from 'node:timers/promises'
import { can } from '../../base/access/can.ts'
import { standingOf } from '../../base/access/subject.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import type { Project } from '../../base/model/project.ts'
import { actingUser } from '../../base/model/user.ts'
import { findUser, findUsersByUsername } from '../../identity/users/user-store.ts'
import { mentionedUsernames } from './mentioned-usernames.ts'
import { effectiveSetting } from './notification-level.ts'
import { isNotified, isNotifiedAsApprover, type Relation, recipientRules } from './notification-policy.ts'
import { settingsOfUsers } from './notification-setting-store.ts'
import { isSubscribable, type Notification } from './notification-store.ts'
import { activePeople, type Candidate, commenters, type Source, subscribers, usersIn } from './recipient-store.ts'

/** The number of users that are read at a time, so that the event loop is free between two batches. */
const BATCH = 100

/** The subject of a notification, as far as the search for recipients needs it. */
export interface Notified {
  readonly project: Project
  /** The author, the assignees and the reviewers; of a pipeline, the user who started it. */
  readonly participantIds: readonly number[]
  /** The new text, in which users may be mentioned. */
  readonly text: string
}

/** Recipients with neighbouring ids. */
export interface RecipientBatch {
  readonly userIds: readonly number[]
  /** All recipients up to this id are in this batch and the batches before it. */
  readonly end: number
}

/** The relation that counts if a user has several. */
const strength = { none: 0, participating: 1, mentioned: 2, unsubscribed: 3 } as const

/**
 * Yields the users that a notification goes to by their settings, with ids above `after`, in batches ordered by id. Whether they
 * may read it is checked when the mail is composed. Users who have unsubscribed, the user who caused it, bots and inactive users
 * are left out. The memory holds at most one batch of each source.
 */
export async function* recipientsOf(
  context: ReadContext,
  notification: Notification,
  notified: Notified,
  after = 0,
): AsyncGenerator<RecipientBatch, undefined> {
  const { event, actorId } = notification
  const sources = await sourcesOf(context, notification, notified)
  for (let from = after; ; ) {
    const lists: (readonly Candidate[])[] = []
    for (const source of sources) lists.push(await source(from, BATCH))
    // A source with a full list may have more candidates after its last one.
    const end = Math.min(...lists.map((list) => (list.length < BATCH ? Number.MAX_SAFE_INTEGER : list.at(-1)!.id)))
    const relations = strongestRelations(lists.flat().filter(({ id }) => id <= end))
    if (!recipientRules[event].includesActor) relations.delete(actorId ?? 0)
    const ids = [...relations.keys()].toSorted((a, b) => a - b)
    for (let at = 0; at < ids.length; at += BATCH) {
      const some = ids.slice(at, at + BATCH)
      yield { userIds: await selectedUsers(context, notification, notified, relations, some), end: some.at(-1)! }
      await setImmediate()
    }
    if (end === Number.MAX_SAFE_INTEGER) return
    from = end
  }
}

/** Returns the strongest relation of each user, without those who have unsubscribed. */
function strongestRelations(candidates: readonly Candidate[]): Map<number, Relation> {
  const strongest = new Map<number, Candidate['relation']>()
  for (const { id, relation } of candidates) {
    const known = strongest.get(id)
    if (known === undefined || strength[relation] > strength[known]) strongest.set(id, relation)
  }
  return new Map([...strongest].filter((entry): entry is [number, Relation] => entry[1] !== 'unsubscribed'))
}

/** Returns the users with a setting that selects the notification, ordered by id. */
async function selectedUsers(
  context: ReadContext,
  { event }: Notification,
  { project }: Notified,
  relations: ReadonlyMap<number, Relation>,
  ids: readonly number[],
): Promise<number[]> {
  const settings = await settingsOfUsers(context, project, ids)
  const selected: number[] = []
  for (const id of await activePeople(context, ids)) {
    const setting = effectiveSetting(settings.get(id) ?? [])
    const isSelected =
      isNotified(setting, { event, relation: relations.get(id)! }) ||
      (isNotifiedAsApprover(setting, event) && (await mayApprove(context, project, id)))
    if (isSelected) selected.push(id)
  }
  return selected
}

async function mayApprove(context: ReadContext, project: Project, userId: number): Promise<boolean> {
  const user = await findUser(context, userId)
  return user !== undefined && can(await standingOf(context, actingUser(user), project), 'approve_merge_request')
}

async function sourcesOf(
  context: ReadContext,
  { event, kind, itemId, formerUserIds }: Notification,
  { project, participantIds, text }: Notified,
): Promise<Source[]> {
  const { audience } = recipientRules[event]
  // Whether a starter gets the mail depends on the level alone, as for a user who does not take part.
  if (audience === 'starter') return [listed(participantIds, 'none')]
  const mentioned = await findUsersByUsername(context, mentionedUsernames(text))
  const places = [
    { column: 'project_id', id: project.id } as const,
    ...project.groupIds.map((id) => ({ column: 'group_id', id }) as const),
  ]
  return [
    ...places.flatMap((place) => [
      usersIn(context, 'members', place),
      usersIn(context, 'notification_settings', place),
    ]),
    listed(
      mentioned.map(({ id }) => id),
      'mentioned',
    ),
    ...(audience === 'thread' && isSubscribable(kind)
      ? [
          listed([...participantIds, ...formerUserIds], 'participating'),
          commenters(context, kind, itemId),
          subscribers(context, kind, itemId),
        ]
      : []),
  ]
}

function listed(ids: readonly number[], relation: Relation): Source {
  const sorted = [...new Set(ids)].toSorted((a, b) => a - b)
  return async (after, limit) =>
    sorted
      .filter((id) => id > after)
      .slice(0, limit)
      .map((id) => ({ id, relation }))
}
