import { sql } from 'kysely'
import type { ReadContext } from '../../base/kit/store-context.ts'
import type { CoreTables } from '../../base/kit/tables.ts'
import type { Relation } from './notification-policy.ts'
import type { SubscribableKind } from './notification-store.ts'

const tables = {
  issue: { subscriptions: 'issue_subscriptions', itemId: 'issue_id' },
  merge_request: { subscriptions: 'merge_request_subscriptions', itemId: 'merge_request_id' },
} as const satisfies Record<SubscribableKind, unknown>

/** A user who may get a notification, or has unsubscribed from its thread. */
export interface Candidate {
  readonly id: number
  readonly relation: Relation | 'unsubscribed'
}

/** Returns at most `limit` candidates with ids above `after`, ordered by id. */
export type Source = (after: number, limit: number) => Promise<readonly Candidate[]>

/** Returns the source of the members of one project or group, or of the users with a setting for it. */
export function usersIn(
  { db }: ReadContext,
  table: 'members' | 'notification_settings',
  { column, id }: { readonly column: 'project_id' | 'group_id'; readonly id: number },
): Source {
  return async (after, limit) => {
    const { rows } = await sql<{ user_id: number }>`
      select user_id from ${sql.table(table satisfies keyof CoreTables)}
      where ${sql.ref(column)} = ${id} and user_id > ${after} order by user_id limit ${limit}`.execute(db)
    return rows.map(({ user_id }) => ({ id: user_id, relation: 'none' as const }))
  }
}

/** Returns the source of the users who have commented on an issue or merge request. */
export function commenters({ db }: ReadContext, kind: SubscribableKind, itemId: number): Source {
  return async (after, limit) => {
    const rows = await db
      .selectFrom('notes')
      .select('author_id')
      .distinct()
      .where(tables[kind].itemId, '=', itemId)
      .where('is_system', '=', 0)
      .where('author_id', '>', after)
      .orderBy('author_id')
      .limit(limit)
      .execute()
    return rows.map(({ author_id }) => ({ id: author_id!, relation: 'participating' as const }))
  }
}

/** Returns the source of the users who have subscribed to an issue or merge request, or unsubscribed from it. */
export function subscribers({ db }: ReadContext, kind: SubscribableKind, id: number): Source {
  const { subscriptions, itemId } = tables[kind]
  return async (after, limit) => {
    const { rows } = await sql<{ user_id: number; is_subscribed: number }>`
      select user_id, is_subscribed from ${sql.table(subscriptions)}
      where ${sql.ref(itemId)} = ${id} and user_id > ${after} order by user_id limit ${limit}`.execute(db)
    return rows.map(({ user_id, is_subscribed }) => ({
      id: user_id,
      relation: is_subscribed === 1 ? ('participating' as const) : ('unsubscribed' as const),
    }))
  }
}

/** Returns the active users among these who are no bots, ordered by id. */
export async function activePeople({ db }: ReadContext, ids: readonly number[]): Promise<number[]> {
  const all = db.selectFrom('users').select('id').where('id', 'in', ids).where('state', '=', 'active')
  return (await all.where('is_bot', '=', 0).orderBy('id').execute()).map(({ id }) => id)
}
