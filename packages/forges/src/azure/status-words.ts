import { findEntry } from '../record/find-entry.ts'
import type { KnownStatus } from '../record/status.ts'

/** The words of Azure Pipelines: results of builds and records, and states before the end. */
export const azureStatuses: Readonly<Record<string, KnownStatus>> = {
  succeeded: 'success',
  succeededWithIssues: 'success',
  partiallySucceeded: 'failed',
  failed: 'failed',
  abandoned: 'failed',
  canceled: 'canceled',
  stopped: 'canceled',
  skipped: 'skipped',
  notStarted: 'pending',
  postponed: 'pending',
  pending: 'pending',
  inProgress: 'running',
  cancelling: 'canceling',
}

export const azureStatus = (word: string): string => findEntry(azureStatuses, word) ?? word

/** The reasons of failures that have a word of their own. A job is abandoned if its agent is lost. */
const reasonByWord: Readonly<Record<string, string>> = {
  partiallySucceeded: 'partially_succeeded',
  abandoned: 'infrastructure_failure',
}

export const azureFailureReason = (word: string): string | undefined => findEntry(reasonByWord, word)
