import type { KnownStatus } from '../record/status.ts'

/** A `blocked` run or job waits for other jobs, or for a concurrency group. */
const statusByWord: Readonly<Record<string, KnownStatus>> = {
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
  return Object.hasOwn(statusByWord, word) ? (statusByWord[word] ?? word) : word
}
