import { type Generated, sql } from 'kysely'
import { insertRow } from '../../base/kit/row-store.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import type { Tx } from '../../base/operations/context.ts'
import type { NotificationEvent } from './notification-policy.ts'

declare module '../../base/kit/tables.ts' {
  interface CoreTables {
    notifications: NotificationsTable
  }
}

/** The things that users can subscribe to. */
export const subscribableKinds = ['issue', 'merge_request'] as const
export type SubscribableKind = (typeof subscribableKinds)[number]
export type NotifiedKind = SubscribableKind | 'release' | 'pipeline' | 'project'

export const isSubscribable = (kind: NotifiedKind): kind is SubscribableKind =>
  (subscribableKinds as readonly string[]).includes(kind)

interface NotificationsTable {
  id: Generated<number>
  event: NotificationEvent
  project_id: number
  kind: NotifiedKind
  item_id: number
  item_iid: number
  note_id: number | null
  actor_id: number | null
  /** JSON */
  former_user_ids: string
  at_ms: number
}

/** Something that users may be notified about: an issue or a pipeline, for example, and what happened to it. */
export interface Notification {
  readonly id: number
  readonly event: NotificationEvent
  readonly projectId: number
  readonly kind: NotifiedKind
  readonly itemId: number
  /** 0 for things without an iid. */
  readonly itemIid: number
  /** The new comment, if the event is one. */
  readonly noteId: number | undefined
  /** The user who caused it, and gets no mail about it. */
  readonly actorId: number | undefined
  /** Users who took part before the event: former assignees, for example. */
  readonly formerUserIds: readonly number[]
  readonly atMs: number
}

export async function insertNotification(tx: Tx, draft: Omit<Notification, 'id' | 'atMs'>): Promise<number> {
  const row = await insertRow(tx, 'notifications', {
    event: draft.event,
    project_id: draft.projectId,
    kind: draft.kind,
    item_id: draft.itemId,
    item_iid: draft.itemIid,
    note_id: draft.noteId ?? null,
    actor_id: draft.actorId ?? null,
    former_user_ids: JSON.stringify(draft.formerUserIds),
    at_ms: tx.nowMs,
  })
  return row.id
}

/** Returns the notification; `undefined` if its project has been removed. */
export async function findNotification({ db }: ReadContext, id: number): Promise<Notification | undefined> {
  const row = await db.selectFrom('notifications').selectAll().where('id', '=', id).executeTakeFirst()
  return (
    row && {
      id: row.id,
      event: row.event,
      projectId: row.project_id,
      kind: row.kind,
      itemId: row.item_id,
      itemIid: row.item_iid,
      noteId: row.note_id ?? undefined,
      actorId: row.actor_id ?? undefined,
      formerUserIds: JSON.parse(row.former_user_ids) as number[],
      atMs: row.at_ms,
    }
  )
}

/** Deletes at most 1,000 notifications from before `beforeMs`. */
export async function deleteNotificationsBefore({ db }: Pick<Tx, 'db'>, beforeMs: number): Promise<void> {
  const old = db
    .selectFrom('notifications')
    .select('id')
    .where(sql<boolean>`at_ms < ${beforeMs}`)
    .orderBy('at_ms')
    .limit(1_000)
  await db.deleteFrom('notifications').where('id', 'in', old).execute()
}
