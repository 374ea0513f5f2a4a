import type { ReadContext } from '../../base/kit/store-context.ts'
import type { Actor, User } from '../../base/model/user.ts'
import { explicitSubscriptions } from '../../base/operations/subscription-store.ts'
import type { Issuable } from './issuable.ts'
import type { IssuableTables } from './issuable-tables.ts'

/** An item and, if it is a merge request, its reviewers. */
export type Subscribable = Pick<Issuable, 'id' | 'author' | 'assignees'> & { readonly reviewers?: readonly User[] }

/** Returns the users who take part in an item, once each: the author, the assignees and the reviewers. */
export function participantsOf({ author, assignees, reviewers = [] }: Subscribable): User[] {
  const all = [...(author === undefined ? [] : [author]), ...assignees, ...reviewers]
  return [...new Map(all.map((user) => [user.id, user])).values()]
}

/**
 * Returns the ids of the items to which the actor is subscribed. Participants are subscribed unless they have
 * unsubscribed.
 */
export async function subscribedItems(
  context: ReadContext,
  tables: IssuableTables,
  actor: Actor,
  items: readonly Subscribable[],
): Promise<ReadonlySet<number>> {
  if (actor === undefined || items.length === 0) return new Set()
  const ids = items.map(({ id }) => id)
  const explicit = await explicitSubscriptions(context, tables, actor.id, ids)
  const takesPart = (item: Subscribable) => participantsOf(item).some(({ id }) => id === actor.id)
  return new Set(items.filter((item) => explicit.get(item.id) ?? takesPart(item)).map(({ id }) => id))
}
