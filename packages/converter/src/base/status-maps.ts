import type { FinishedStatus, KnownStatus } from '@penstock/forges/record'
import { StatusCode } from '@penstock/otlp'

/** The statuses of pipelines and jobs that wait for a person or for a scheduled time. */
export const blockedStatuses = ['manual', 'scheduled'] as const

/** Status → `cicd.pipeline.result` and `cicd.pipeline.task.run.result`; others have none. */
export const resultByStatus: Readonly<Record<string, string>> = {
  success: 'success',
  failed: 'failure',
  canceled: 'cancellation',
  skipped: 'skip',
} satisfies Record<FinishedStatus, string>

/** The status of a job that deploys → `deployment.status`; others have none. */
export const deploymentStatusByStatus: Readonly<Record<string, string>> = { success: 'succeeded', failed: 'failed' }

/** Status → `cicd.pipeline.run.state` and `cicd.pipeline.task.run.state`; others have none. */
export const stateByStatus: Readonly<Record<string, string>> = {
  pending: 'pending',
  waiting_for_resource: 'pending',
  preparing: 'pending',
  waiting_for_callback: 'pending',
  running: 'executing',
  canceling: 'executing',
} satisfies Partial<Record<KnownStatus, string>>

/** Failure reason → result under the option `refinedResults`, for failures that the pipeline's author did not cause. */
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
  timed_out: 'timeout',
  startup_failure: 'error',
  infrastructure_failure: 'error',
}

/** Merge request state → `vcs.change.state`. An open draft is `wip` instead. */
export const changeStateByState: Readonly<Record<string, string>> = {
  opened: 'open',
  locked: 'open',
  merged: 'merged',
  closed: 'closed',
}

/** The statuses of jobs that have not run, even if they have a start time. */
const neverRunStatuses: ReadonlySet<string> = new Set<KnownStatus>([
  'skipped',
  'created',
  ...blockedStatuses,
  'pending',
  'preparing',
  'waiting_for_resource',
  'waiting_for_callback',
])
export const hasNeverRun = (status: string): boolean => neverRunStatuses.has(status)

interface SpanStatusOptions {
  readonly successStatus: 'ok' | 'unset'
  readonly canceledAsError: boolean
}

/** Returns the span status code for a status. */
export function toStatusCode(status: string, options: SpanStatusOptions): number {
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

/** The `error.type` of a failure without a known reason. */
export const OTHER_ERROR = '_OTHER'
