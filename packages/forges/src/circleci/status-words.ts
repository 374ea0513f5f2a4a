import { findEntry } from '../record/find-entry.ts'
import type { KnownStatus } from '../record/status.ts'

/** The words of CircleCI for workflows and jobs. A workflow that is `failing` still runs. */
export const circleciStatuses: Readonly<Record<string, KnownStatus>> = {
  success: 'success',
  failed: 'failed',
  error: 'failed',
  infrastructure_fail: 'failed',
  timedout: 'failed',
  'terminated-unknown': 'failed',
  unauthorized: 'failed',
  canceled: 'canceled',
  not_run: 'skipped',
  running: 'running',
  failing: 'running',
  on_hold: 'manual',
  queued: 'pending',
  not_running: 'pending',
  blocked: 'created',
}

export const circleciStatus = (word: string): string => findEntry(circleciStatuses, word) ?? word

/** The reasons of failures that have a word of their own. */
const reasonByWord: Readonly<Record<string, string>> = {
  error: 'error',
  infrastructure_fail: 'infrastructure_failure',
  timedout: 'timed_out',
  'terminated-unknown': 'terminated_unknown',
  unauthorized: 'unauthorized',
}

export const circleciFailureReason = (word: string): string | undefined => findEntry(reasonByWord, word)
