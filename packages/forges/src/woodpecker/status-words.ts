import { findEntry } from '../record/find-entry.ts'
import type { KnownStatus } from '../record/status.ts'

/** The words of Woodpecker for pipelines, workflows and steps. `error` means that the configuration or an agent failed. */
export const woodpeckerStatuses: Readonly<Record<string, KnownStatus>> = {
  success: 'success',
  failure: 'failed',
  error: 'failed',
  killed: 'canceled',
  canceled: 'canceled',
  declined: 'canceled',
  skipped: 'skipped',
  created: 'created',
  pending: 'pending',
  running: 'running',
  started: 'running',
  blocked: 'manual',
}

export const woodpeckerStatus = (word: string): string => findEntry(woodpeckerStatuses, word) ?? word

export const woodpeckerFailureReason = (word: string): string | undefined => (word === 'error' ? 'error' : undefined)
