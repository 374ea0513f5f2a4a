import { StatusCode } from '@penstock/otlp'
import type { FinishedStatus, KnownStatus } from './sources/status.ts'

/** Waiting for a person or a clock. */
export const blockedStatuses = ['manual', 'scheduled'] as const

/** Status → `cicd.pipeline.result` and `cicd.pipeline.task.run.result`; others have none. @see interface-1 2.2 */
export const resultByStatus: Readonly<Record<string, string>> = {
  success: 'success',
  failed: 'failure',
  canceled: 'cancellation',
  skipped: 'skip',
} satisfies Record<FinishedStatus, string>

/** Status → `cicd.pipeline.run.state` and `cicd.pipeline.task.run.state`; others have none. @see interface-1 2.2 */
export const stateByStatus: Readonly<Record<string, string>> = {
  pending: 'pending',
  waiting_for_resource: 'pending',
  preparing: 'pending',
  waiting_for_callback: 'pending',
  running: 'executing',
  canceling: 'executing',
} satisfies Partial<Record<KnownStatus, string>>

/** Option `refinedResults`: failures that are not the pipeline author's. @see spec/pipeline-telemetry.md 3.6 */
export const refinedResultByReason: Readonly<Record<string, string>> = {
  job_execution_timeout: 'timeout',
  stuck_or_timeout_failure: 'timeout',
  runner_system_failure: 'error',
  runner_unsupported: 'error',
  scheduler_failure: 'error',
  data_integrity_failure: 'error',
  api_failure: 'error',
  no_matching_runner: 'error',
  ci_quota_exceeded: 'error',
}

/** Merge request state → `vcs.change.state`; a draft is `wip` while it can still change. */
export const changeStateByState: Readonly<Record<string, string>> = {
  opened: 'open',
  locked: 'open',
  merged: 'merged',
  closed: 'closed',
}

/** The entry for a word from outside, where `constructor` and its kin are words like any other. */
export function entryOf<Value>(table: Readonly<Record<string, Value>>, word: string): Value | undefined {
  return Object.hasOwn(table, word) ? table[word] : undefined
}

/** Jobs that have not run, whatever their times claim. */
const neverRunStatuses: ReadonlySet<string> = new Set<KnownStatus>([
  'skipped',
  'created',
  ...blockedStatuses,
  'pending',
  'preparing',
  'waiting_for_resource',
  'waiting_for_callback',
])
export const isNeverRun = (status: string): boolean => neverRunStatuses.has(status)

export interface SpanStatusOptions {
  readonly successStatus: 'ok' | 'unset'
  readonly canceledAsError: boolean
}

/** Status → span status code. @see spec/pipeline-telemetry.md 3.2 */
export function statusCodeOf(status: string, options: SpanStatusOptions): number {
  switch (status) {
    case 'success':
      return options.successStatus === 'ok' ? StatusCode.OK : StatusCode.UNSET
    case 'failed':
      return StatusCode.ERROR
    case 'canceled':
    case 'canceling':
      return options.canceledAsError ? StatusCode.ERROR : StatusCode.UNSET
    default:
      return StatusCode.UNSET
  }
}

/** `error.type` where no reason is known. */
export const OTHER_ERROR = '_OTHER'
