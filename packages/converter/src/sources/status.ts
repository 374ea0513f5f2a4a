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

/** Alternative spellings of a status that relays and some versions send. */
export const statusByAlias: Readonly<Record<string, KnownStatus>> = { failure: 'failed', cancelled: 'canceled' }

const canonicalStatuses = new Map<string, KnownStatus>([
  ...knownStatuses.map((status) => [status, status] as const),
  ...Object.entries(statusByAlias),
])

/**
 * Returns the canonical form of a status in any case or spelling. An unknown status is returned unchanged.
 */
export function canonicalStatus(status: string): string {
  return canonicalStatuses.get(status) ?? canonicalStatuses.get(status.trim().toLowerCase()) ?? status
}

export function isFinished(status: string): status is FinishedStatus {
  return (finishedStatuses as readonly string[]).includes(status)
}
