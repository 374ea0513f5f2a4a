/** The final statuses. */
export const finishedStatuses = ['success', 'failed', 'canceled', 'skipped'] as const
export type FinishedStatus = (typeof finishedStatuses)[number]

/** The statuses that a pipeline or a job can have. Sources may send others. */
export const knownStatuses = [
  ...finishedStatuses,
  'created',
  'waiting_for_resource',
  'preparing',
  'waiting_for_callback',
  'pending',
  'running',
  'canceling',
  'manual',
  'scheduled',
] as const
export type KnownStatus = (typeof knownStatuses)[number]

export function isFinished(status: string): status is FinishedStatus {
  return (finishedStatuses as readonly string[]).includes(status)
}

/** Returns whether a status is one before the end. Unknown words are not, because they may be final. */
export function isWaiting(status: string): boolean {
  return (knownStatuses as readonly string[]).includes(status) && !isFinished(status)
}
