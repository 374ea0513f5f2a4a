import { type EffectiveSetting, isSelected, type NotificationSwitch } from './notification-level.ts'

/** The events that notify users: those with a switch, and approvals, which have none. */
export type NotificationEvent =
  | Exclude<NotificationSwitch, 'newEpic' | 'approver'>
  | 'approveMergeRequest'
  | 'unapproveMergeRequest'

/**
 * How a user is connected with a notification: mentioned in the new text, taking part (author, assignee, reviewer, commenter,
 * subscriber), or neither.
 */
export type Relation = 'mentioned' | 'participating' | 'none'

/**
 * The users who can get a notification:
 * - `thread`: those who take part or are mentioned, the members, and everyone with a setting for the project or a group of it
 * - `project`: the same, for things in which users do not take part
 * - `starter`: the user who started the pipeline
 */
type Audience = 'thread' | 'project' | 'starter'

/** The recipients of one kind of event. */
interface RecipientRule {
  readonly audience: Audience
  /** The levels, besides `custom`, that select it for users who neither take part nor are mentioned. */
  readonly levels: readonly ('participating' | 'watch')[]
  /** The switch that selects it at the level `custom`. */
  readonly switch?: NotificationSwitch
  /** A switch that selects it at the level `custom` for users who may approve the merge request. */
  readonly approverSwitch?: NotificationSwitch
  /** Whether the user who caused it gets the notification too. */
  readonly includesActor?: true
}

const watched = (event: NotificationSwitch): RecipientRule => ({ audience: 'thread', levels: ['watch'], switch: event })
const unwatched = (event: NotificationSwitch): RecipientRule => ({ audience: 'thread', levels: [], switch: event })

/** The recipients of each event; the documentation lists them too (notifications.md). */
export const recipientRules: Readonly<Record<NotificationEvent, RecipientRule>> = {
  newRelease: { audience: 'project', levels: ['watch'], switch: 'newRelease' },
  newNote: watched('newNote'),
  newIssue: watched('newIssue'),
  reopenIssue: watched('reopenIssue'),
  closeIssue: watched('closeIssue'),
  reassignIssue: watched('reassignIssue'),
  issueDue: unwatched('issueDue'),
  newMergeRequest: { ...watched('newMergeRequest'), approverSwitch: 'approver' },
  pushToMergeRequest: unwatched('pushToMergeRequest'),
  reopenMergeRequest: watched('reopenMergeRequest'),
  closeMergeRequest: watched('closeMergeRequest'),
  reassignMergeRequest: watched('reassignMergeRequest'),
  changeReviewerMergeRequest: watched('changeReviewerMergeRequest'),
  mergeMergeRequest: watched('mergeMergeRequest'),
  approveMergeRequest: { audience: 'thread', levels: ['watch'] },
  unapproveMergeRequest: { audience: 'thread', levels: ['watch'] },
  mergeWhenPipelineSucceeds: watched('mergeWhenPipelineSucceeds'),
  failedPipeline: {
    audience: 'starter',
    levels: ['participating', 'watch'],
    switch: 'failedPipeline',
    includesActor: true,
  },
  fixedPipeline: {
    audience: 'starter',
    levels: ['participating', 'watch'],
    switch: 'fixedPipeline',
    includesActor: true,
  },
  successPipeline: { audience: 'starter', levels: [], switch: 'successPipeline', includesActor: true },
  movedProject: { audience: 'project', levels: ['participating', 'watch'], switch: 'movedProject' },
}

type LevelRule = (relation: Relation, rule: RecipientRule, switches: EffectiveSetting['switches']) => boolean

/** The rule of each level, which shows whether it selects a notification. */
const levelRules: Readonly<Record<EffectiveSetting['level'], LevelRule>> = {
  disabled: () => false,
  mention: (relation) => relation === 'mentioned',
  participating: (relation, rule) => relation !== 'none' || rule.levels.includes('participating'),
  watch: (relation, rule) => relation !== 'none' || rule.levels.includes('watch'),
  custom: (relation, rule, switches) =>
    relation !== 'none' || (rule.switch !== undefined && isSelected(switches, rule.switch)),
}

/** Returns whether a user with this setting gets a notification. */
export const isNotified = (
  { level, switches }: EffectiveSetting,
  { event, relation }: { readonly event: NotificationEvent; readonly relation: Relation },
): boolean => levelRules[level](relation, recipientRules[event], switches)

/** Returns whether a user with this setting gets a notification if they may approve the merge request. */
export function isNotifiedAsApprover({ level, switches }: EffectiveSetting, event: NotificationEvent): boolean {
  const { approverSwitch } = recipientRules[event]
  return level === 'custom' && approverSwitch !== undefined && isSelected(switches, approverSwitch)
}
