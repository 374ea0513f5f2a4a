import { notFound } from '../../base/kit/domain-error.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import { parentIds } from '../../base/model/parent.ts'
import type { Actor } from '../../base/model/user.ts'
import type { Tx } from '../../base/operations/context.ts'
import { recordChange } from '../../base/operations/record-change.ts'
import {
  explicitSubscriptions,
  type SubscriptionTable,
  setSubscription,
} from '../../base/operations/subscription-store.ts'
import { type OnParent, onGroupsAndProjects } from '../../identity/parents/parent-operations.ts'
import { type DescribedLabel, labelEvents, labelInput } from './label.ts'
import { findLabel } from './label-store.ts'

declare module '../../base/kit/tables.ts' {
  interface CoreTables {
    label_subscriptions: { label_id: number; user_id: number; is_subscribed: number }
  }
}

const labelSubscriptions: SubscriptionTable = { subscriptions: 'label_subscriptions', itemId: 'label_id' }

/** A label as one user sees it. */
export type ShownLabel = DescribedLabel & { readonly isSubscribed: boolean }

/** Returns the labels with the subscription of the actor. */
export async function withSubscriptions(
  context: ReadContext & { readonly actor: Actor },
  labels: readonly DescribedLabel[],
): Promise<ShownLabel[]> {
  const { actor } = context
  const ids = labels.map(({ id }) => id)
  const subscribed = actor && (await explicitSubscriptions(context, labelSubscriptions, actor.id, ids))
  return labels.map((label) => ({ ...label, isSubscribed: subscribed?.get(label.id) === true }))
}

/**
 * A label after a request to change the actor's subscription. `isUnchanged`: the subscription already was as requested.
 */
export type LabelWithSubscription = ShownLabel & { readonly isUnchanged: boolean }

/** Subscribes the actor to a label, or unsubscribes them. The label may belong to a group above. */
export const { group: groupLabelSubscriptions, project: projectLabelSubscriptions } = onGroupsAndProjects(
  { noun: 'LabelSubscription', permissions: () => ({ read: 'read_label', write: 'subscribe_label' }) },
  (on) => ({
    create: on.create(labelInput, (tx, input) => subscribe(tx, input.labelId, true)),
    remove: on.remove(labelInput, (tx, input) => subscribe(tx, input.labelId, false)),
  }),
)

async function subscribe(
  tx: OnParent<Tx>,
  ref: number | string,
  isSubscribed: boolean,
): Promise<LabelWithSubscription> {
  const label = await findLabel(tx, { parent: tx.subject, above: true }, ref)
  if (label === undefined) throw notFound('Label')
  const [before] = await withSubscriptions(tx, [label])
  const isUnchanged = before!.isSubscribed === isSubscribed
  if (!isUnchanged) {
    await setSubscription(tx, labelSubscriptions, label.id, tx.actor!.id, isSubscribed)
    const change = { before: label, after: label, ...parentIds(tx.subject) }
    await recordChange(tx, labelEvents, isSubscribed ? 'subscribed' : 'unsubscribed', change)
  }
  return { ...label, isSubscribed, isUnchanged }
}
