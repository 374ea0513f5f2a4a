import { findEntry } from '../record/find-entry.ts'
import type { KnownStatus } from '../record/status.ts'

/** The words of Buildkite for builds and jobs. A job is `broken` if it was never run because of its condition or an earlier failure. */
export const buildkiteStatuses: Readonly<Record<string, KnownStatus>> = {
  passed: 'success',
  failed: 'failed',
  timed_out: 'failed',
  expired: 'failed',
  canceled: 'canceled',
  skipped: 'skipped',
  not_run: 'skipped',
  broken: 'skipped',
  waiting_failed: 'skipped',
  creating: 'created',
  pending: 'pending',
  waiting: 'pending',
  scheduled: 'pending',
  reserved: 'pending',
  assigned: 'pending',
  accepted: 'pending',
  limiting: 'waiting_for_resource',
  limited: 'waiting_for_resource',
  platform_limiting: 'waiting_for_resource',
  platform_limited: 'waiting_for_resource',
  running: 'running',
  failing: 'running',
  timing_out: 'running',
  canceling: 'canceling',
  blocked: 'manual',
}

export const buildkiteStatus = (word: string): string => findEntry(buildkiteStatuses, word) ?? word

/** The reasons of failures that have a word of their own. A job expires if no agent takes it in time. */
const reasonByWord: Readonly<Record<string, string>> = { timed_out: 'timed_out', expired: 'no_matching_runner' }

/** Why an agent ended a job, if it was not the job itself. */
const reasonBySignal: Readonly<Record<string, string>> = {
  agent_stop: 'infrastructure_failure',
  process_run_error: 'infrastructure_failure',
  agent_refused: 'infrastructure_failure',
  agent_incompatible: 'infrastructure_failure',
  stack_error: 'infrastructure_failure',
  signature_rejected: 'signature_rejected',
}

export const buildkiteFailureReason = (word: string, signalReason: string | undefined): string | undefined =>
  findEntry(reasonByWord, word) ??
  (word === 'failed' && signalReason !== undefined ? findEntry(reasonBySignal, signalReason) : undefined)
