import { type EffectiveSetting, isSelected, type NotificationSwitch } from './notification-level.ts'

/**
 * How a user is connected with a notification: mentioned in the new text, taking part (author, assignee, reviewer, commenter,
 * subscriber), or neither.
 */
export type Relation = 'mentioned' | 'participating' | 'none'

/** The events that the level `watch` does not select. */
const notWatched: ReadonlySet<NotificationSwitch> = new Set([
  'pushToMergeRequest',
  'issueDue',
  'successPipeline',
  'approver',
])

type Rule = (event: NotificationSwitch, relation: Relation, switches: EffectiveSetting['switches']) => boolean

/** Tells for each level whether a user gets a notification. */
const rules: Readonly<Record<EffectiveSetting['level'], Rule>> = {
  disabled: () => false,
  mention: (_event, relation) => relation === 'mentioned',
  participating: (_event, relation) => relation !== 'none',
  watch: (event, relation) => relation !== 'none' || !notWatched.has(event),
  custom: (event, relation, switches) => relation !== 'none' || isSelected(switches, event),
}

/** Tells whether a user with this setting gets a notification. */
export const isNotified = (
  { level, switches }: EffectiveSetting,
  { event, relation }: { readonly event: NotificationSwitch; readonly relation: Relation },
): boolean => rules[level](event, relation, switches)
