import { sql } from 'kysely'
import type { ReadContext } from '../kit/store-context.ts'
import type { CoreTables } from '../kit/tables.ts'
import type { Tx } from './context.ts'

/** A table of subscriptions, and the column of the thing's id. */
export interface SubscriptionTable {
  readonly subscriptions: keyof CoreTables
  readonly itemId: string
}

/**
 * Returns a map from the id of each thing to true if the user has subscribed to it, and false if they have
 * unsubscribed. Things for which they did neither are missing.
 */
export async function explicitSubscriptions(
  { db }: ReadContext,
  { subscriptions, itemId }: SubscriptionTable,
  userId: number,
  ids: readonly number[],
): Promise<ReadonlyMap<number, boolean>> {
  if (ids.length === 0) return new Map()
  const { rows } = await sql<{ item_id: number; is_subscribed: number }>`
    select ${sql.ref(itemId)} as item_id, is_subscribed from ${sql.table(subscriptions)}
    where user_id = ${userId} and ${sql.ref(itemId)} in (${sql.join([...ids])})`.execute(db)
  return new Map(rows.map((row) => [row.item_id, row.is_subscribed === 1]))
}

/** Subscribes a user to a thing or unsubscribes them. */
export async function setSubscription(
  { db }: Tx,
  { subscriptions, itemId }: SubscriptionTable,
  id: number,
  userId: number,
  isSubscribed: boolean,
): Promise<void> {
  const value = Number(isSubscribed)
  await sql`insert into ${sql.table(subscriptions)} (${sql.ref(itemId)}, user_id, is_subscribed)
    values (${id}, ${userId}, ${value})
    on conflict (${sql.ref(itemId)}, user_id) do update set is_subscribed = ${value}`.execute(db)
}
