import type { AttributeTable } from '../attribute-table.ts'
import type { JobRun } from '../run.ts'
import {
  ATTR_CICD_PIPELINE_TASK_NAME,
  ATTR_CICD_PIPELINE_TASK_RUN_ID,
  ATTR_CICD_PIPELINE_TASK_RUN_RESULT,
  ATTR_CICD_PIPELINE_TASK_RUN_STATE,
  ATTR_CICD_PIPELINE_TASK_RUN_URL_FULL,
  ATTR_CICD_PIPELINE_TASK_TYPE,
  ATTR_CICD_WORKER_ID,
  ATTR_CICD_WORKER_NAME,
  ATTR_CICD_WORKER_STATE,
  ATTR_ERROR_TYPE,
  ATTR_SVC_TASK_RUN_ATTEMPT,
  ATTR_SVC_TASK_RUN_EXECUTED,
  ATTR_SVC_TIMESTAMPS_ADJUSTED,
} from '../semconv.ts'
import { entryOf, stateByStatus } from '../status-maps.ts'

const BRIDGE = 'bridge'

/** Attributes of a job's or bridge's span and log record. @see spec/pipeline-telemetry.md 3.5 */
export const jobAttributes: AttributeTable<JobRun> = [
  { keys: ['job.id'], type: 'int', from: ({ job }) => job.id, absent: 'never' },
  { keys: [ATTR_CICD_PIPELINE_TASK_RUN_ID], type: 'string', from: ({ job }) => String(job.id), absent: 'never' },
  { keys: ['job.name', ATTR_CICD_PIPELINE_TASK_NAME], type: 'string', from: ({ job }) => job.name, absent: 'blank' },
  { keys: ['job.stage', ATTR_CICD_PIPELINE_TASK_TYPE], type: 'string', from: ({ job }) => job.stage, absent: 'blank' },
  { keys: ['job.status'], type: 'string', from: ({ job }) => job.status, absent: 'never' },
  {
    keys: [ATTR_CICD_PIPELINE_TASK_RUN_RESULT],
    type: 'string',
    from: ({ result }) => result,
    absent: 'the status has no result',
  },
  {
    keys: [ATTR_CICD_PIPELINE_TASK_RUN_STATE],
    type: 'string',
    from: ({ job }) => entryOf(stateByStatus, job.status),
    absent: 'the status is final or has no state',
  },
  {
    keys: [ATTR_CICD_PIPELINE_TASK_RUN_URL_FULL],
    type: 'string',
    from: ({ job }) => job.url,
    absent: 'neither given nor derivable from the project URL',
  },
  {
    keys: ['job.duration', 'svc.cicd.pipeline.task.run.duration'],
    type: 'double',
    from: ({ job }) => job.durationSeconds,
    absent: 'unknown (0 is kept)',
  },
  {
    keys: ['job.queued_duration', 'svc.cicd.pipeline.task.run.queued_duration'],
    type: 'double',
    from: ({ job }) => job.queuedSeconds,
    absent: 'unknown (0 is kept)',
  },
  { keys: ['job.manual'], type: 'bool', from: ({ job }) => job.manual, absent: 'unknown' },
  {
    keys: ['job.allow_failure', 'svc.cicd.pipeline.task.allow_failure'],
    type: 'bool',
    from: ({ job }) => job.allowFailure,
    absent: 'never; false when the source does not say',
  },
  {
    keys: ['job.failure_reason', 'svc.cicd.pipeline.task.run.failure_reason'],
    type: 'string',
    from: ({ job }) => job.failureReason,
    absent: 'not failed, or no reason given',
  },
  {
    keys: ['job.type', 'svc.cicd.pipeline.task.kind'],
    type: 'string',
    from: ({ job }) => (job.bridge ? BRIDGE : undefined),
    absent: 'not a bridge',
  },
  {
    keys: ['job.created_at', 'svc.cicd.pipeline.task.run.created_at'],
    type: 'int',
    from: ({ job }) => job.createdAtNs,
    absent: 'unknown',
  },
  {
    keys: ['job.when', 'svc.cicd.pipeline.task.run.when'],
    type: 'string',
    from: ({ job }) => job.when,
    absent: 'unknown',
  },
  {
    keys: ['svc.cicd.pipeline.task.trigger.type'],
    type: 'string',
    from: ({ run }) => run.record.source,
    absent: 'blank',
  },
  {
    keys: ['job.user.id', 'svc.cicd.pipeline.task.user.id'],
    type: 'int',
    from: ({ user }) => user?.id,
    absent: 'unknown, or option `user`',
  },
  {
    keys: ['job.user.username', 'svc.cicd.pipeline.task.user.username'],
    type: 'string',
    from: ({ user }) => user?.username,
    absent: 'unknown, or option `user`',
  },
  {
    keys: ['job.artifacts.filename', 'svc.cicd.pipeline.task.artifacts.filename'],
    type: 'string',
    from: ({ job }) => job.artifacts?.filename,
    absent: 'no artifacts',
  },
  {
    keys: ['job.artifacts.size', 'svc.cicd.pipeline.task.artifacts.size'],
    type: 'int',
    from: ({ job }) => job.artifacts?.size,
    absent: 'no artifacts',
  },
  { keys: ['job.runner.id'], type: 'int', from: ({ job }) => job.runner?.id, absent: 'no runner' },
  { keys: [ATTR_CICD_WORKER_ID], type: 'string', from: ({ job }) => job.runner?.id?.toString(), absent: 'no runner' },
  {
    keys: ['job.runner.description', ATTR_CICD_WORKER_NAME],
    type: 'string',
    from: ({ job }) => job.runner?.description,
    absent: 'no runner, or blank',
  },
  {
    keys: ['job.runner.tags', 'svc.cicd.worker.tags'],
    type: 'string[]',
    from: ({ job }) => job.runner?.tags,
    absent: 'no runner, or no tags',
  },
  {
    keys: ['job.runner.type', 'svc.cicd.worker.type'],
    type: 'string',
    from: ({ job }) => job.runner?.type,
    absent: 'no runner, or unknown',
  },
  { keys: ['job.runner.active'], type: 'bool', from: ({ job }) => job.runner?.active, absent: 'no runner, or unknown' },
  {
    keys: [ATTR_CICD_WORKER_STATE],
    type: 'string',
    from: ({ job }) => workerStateOf(job.runner?.active),
    absent: 'no runner, or unknown',
  },
  {
    keys: ['job.runner.is_shared', 'svc.cicd.runner.is_shared'],
    type: 'bool',
    from: ({ job }) => job.runner?.isShared,
    absent: 'no runner, or unknown',
  },
  {
    keys: ['job.environment.name', 'svc.cicd.pipeline.task.environment.name'],
    type: 'string',
    from: ({ job }) => job.environment?.name,
    absent: 'no environment',
  },
  {
    keys: ['job.environment.action', 'svc.cicd.pipeline.task.environment.action'],
    type: 'string',
    from: ({ job }) => job.environment?.action,
    absent: 'no environment, or blank',
  },
  {
    keys: ['job.environment.deployment_tier', 'svc.cicd.pipeline.task.environment.deployment_tier'],
    type: 'string',
    from: ({ job }) => job.environment?.deploymentTier,
    absent: 'no environment, or blank',
  },
  { keys: [ATTR_ERROR_TYPE], type: 'string', from: ({ errorType }) => errorType, absent: 'not failed' },
  {
    keys: ['svc.cicd.pipeline.task.run.coverage'],
    type: 'double',
    from: ({ job }) => job.coverage,
    extra: true,
    absent: 'unknown',
  },
  {
    keys: ['svc.cicd.pipeline.task.required_tags'],
    type: 'string[]',
    from: ({ job }) => job.requiredTags,
    extra: true,
    absent: 'any runner may take the job, or unknown (hooks do not say)',
  },
  {
    keys: [ATTR_SVC_TASK_RUN_EXECUTED],
    type: 'bool',
    from: ({ times }) => (times.executed ? undefined : false),
    extension: true,
    absent: 'the job ran',
  },
  {
    keys: [ATTR_SVC_TIMESTAMPS_ADJUSTED],
    type: 'bool',
    from: ({ times }) => times.adjusted || undefined,
    extension: true,
    absent: 'times are as given',
  },
  {
    keys: [ATTR_SVC_TASK_RUN_ATTEMPT],
    type: 'int',
    from: ({ job }) => (job.attempt === undefined ? undefined : BigInt(job.attempt)),
    extension: true,
    absent: 'attempts are unknown',
  },
]

function workerStateOf(active: boolean | undefined): string | undefined {
  if (active === undefined) return undefined
  return active ? 'available' : 'offline'
}
