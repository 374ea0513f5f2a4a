/** Statuses after which nothing runs any more. */
export const finishedStatuses = ['success', 'failed', 'canceled', 'skipped'] as const
export type FinishedStatus = (typeof finishedStatuses)[number]

/** Every status a pipeline or a job can have today; sources may still send others. */
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

/** Other words for a status, which relays and some versions send. */
export const statusByAlias: Readonly<Record<string, KnownStatus>> = { failure: 'failed', cancelled: 'canceled' }

const canonicalStatuses = new Map<string, KnownStatus>([
  ...knownStatuses.map((status) => [status, status] as const),
  ...Object.entries(statusByAlias),
])

/**
 * The canonical word for a status in any case or spelling; an unknown word stays as it is.
 *
 * @see spec/pipeline-telemetry.md 1.4
 */
export function canonicalStatus(status: string): string {
  return canonicalStatuses.get(status) ?? canonicalStatuses.get(status.trim().toLowerCase()) ?? status
}

export function isFinished(status: string): status is FinishedStatus {
  return (finishedStatuses as readonly string[]).includes(status)
}
