export const notificationLevels = ['disabled', 'participating', 'watch', 'global', 'mention', 'custom'] as const
/** `global` means that the setting of the next group above counts, and above the groups the one for everything. */
export type NotificationLevel = (typeof notificationLevels)[number]

/** The events that a user selects with the level `custom`, in the order of responses. */
export const notificationSwitches = [
  'newRelease',
  'newNote',
  'newIssue',
  'reopenIssue',
  'closeIssue',
  'reassignIssue',
  'issueDue',
  'newMergeRequest',
  'pushToMergeRequest',
  'reopenMergeRequest',
  'closeMergeRequest',
  'reassignMergeRequest',
  'changeReviewerMergeRequest',
  'mergeMergeRequest',
  'failedPipeline',
  'fixedPipeline',
  'successPipeline',
  'movedProject',
  'mergeWhenPipelineSucceeds',
  'approver',
  'newEpic',
] as const
export type NotificationSwitch = (typeof notificationSwitches)[number]

/** The switches that a user has set. A missing one has never been set. */
export type SwitchValues = Readonly<Partial<Record<NotificationSwitch, boolean>>>

/** The setting of a user for everything, for a group or for a project. */
export interface NotificationSetting {
  readonly level: NotificationLevel
  /** Kept while the level is another one than `custom`. */
  readonly switches: SwitchValues
}

export const defaultGlobalSetting: NotificationSetting = { level: 'participating', switches: {} }
export const defaultParentSetting: NotificationSetting = { level: 'global', switches: {} }

/** A setting that does not refer to another one. */
export interface EffectiveSetting extends NotificationSetting {
  readonly level: Exclude<NotificationLevel, 'global'>
}

/**
 * Returns the setting in force. `settings` are those of the project and of its groups, the nearest first, and then the one for
 * everything; `undefined` means a setting that the user has not made.
 */
export function effectiveSetting(settings: readonly (NotificationSetting | undefined)[]): EffectiveSetting {
  const inForce = settings.find((setting): setting is EffectiveSetting => (setting?.level ?? 'global') !== 'global')
  return inForce ?? { level: 'participating', switches: {} }
}

/** Returns whether the level `custom` selects an event. Without the user's choice, only some events of pipelines are selected. */
export const isSelected = (switches: SwitchValues, event: NotificationSwitch): boolean =>
  switches[event] ?? (event === 'failedPipeline' || event === 'fixedPipeline')
