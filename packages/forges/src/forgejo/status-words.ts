import { findEntry } from '../record/find-entry.ts'
import type { KnownStatus } from '../record/status.ts'

/** A `blocked` run or job waits for other jobs, or for a concurrency group. */
export const forgejoStatuses: Readonly<Record<string, KnownStatus>> = {
  success: 'success',
  failure: 'failed',
  cancelled: 'canceled',
  skipped: 'skipped',
  waiting: 'pending',
  blocked: 'waiting_for_resource',
  running: 'running',
}

export function forgejoStatus(given: string): string {
  const word = given.toLowerCase()
  return findEntry(forgejoStatuses, word) ?? word
}
