import { type KnownStatus, knownStatuses } from '../record/status.ts'

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
