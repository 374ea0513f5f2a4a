import { findEntry } from '../record/find-entry.ts'
import type { KnownStatus } from '../record/status.ts'

/** The words of Drone for builds, stages and steps. `error` means that the configuration or a runner failed. */
export const droneStatuses: Readonly<Record<string, KnownStatus>> = {
  success: 'success',
  failure: 'failed',
  error: 'failed',
  killed: 'canceled',
  declined: 'canceled',
  skipped: 'skipped',
  pending: 'pending',
  waiting_on_dependencies: 'pending',
  running: 'running',
  started: 'running',
  blocked: 'manual',
}

export const droneStatus = (word: string): string => findEntry(droneStatuses, word) ?? word

export const droneFailureReason = (word: string): string | undefined => (word === 'error' ? 'error' : undefined)
