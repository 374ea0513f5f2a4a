import type { AttributeTable } from '../attribute-table.ts'
import type { MergeRequestRecord } from '../record.ts'
import type { PipelineRun } from '../run.ts'
import {
  ATTR_CICD_PIPELINE_NAME,
  ATTR_CICD_PIPELINE_RESULT,
  ATTR_CICD_PIPELINE_RUN_ID,
  ATTR_CICD_PIPELINE_RUN_STATE,
  ATTR_CICD_PIPELINE_RUN_URL_FULL,
  ATTR_ERROR_TYPE,
  ATTR_SVC_ROOT_RESOLVED,
  ATTR_SVC_TIMESTAMPS_ADJUSTED,
  ATTR_SVC_TRIGGER_TYPE,
  ATTR_VCS_CHANGE_ID,
  ATTR_VCS_CHANGE_STATE,
  ATTR_VCS_CHANGE_TITLE,
  ATTR_VCS_REF_BASE_NAME,
  ATTR_VCS_REF_BASE_REVISION,
  ATTR_VCS_REF_BASE_TYPE,
  ATTR_VCS_REF_HEAD_NAME,
  ATTR_VCS_REF_HEAD_REVISION,
  ATTR_VCS_REF_HEAD_TYPE,
} from '../semconv.ts'
import { changeStateByState, entryOf, stateByStatus } from '../status-maps.ts'

/** Attributes of the pipeline span and of the pipeline's log record. @see spec/pipeline-telemetry.md 3.4 */
export const pipelineAttributes: AttributeTable<PipelineRun> = [
  { keys: ['pipeline.id'], type: 'int', from: ({ record }) => record.id, absent: 'never' },
  { keys: [ATTR_CICD_PIPELINE_RUN_ID], type: 'string', from: ({ record }) => String(record.id), absent: 'never' },
  { keys: ['pipeline.iid'], type: 'int', from: ({ record }) => record.iid, absent: 'unknown' },
  { keys: ['pipeline.name'], type: 'string', from: ({ record }) => record.name, absent: 'the pipeline has no name' },
  {
    keys: [ATTR_CICD_PIPELINE_NAME],
    type: 'string',
    from: ({ record }) => record.name ?? record.project.name,
    absent: 'neither the pipeline nor the project has a name',
  },
  { keys: ['pipeline.ref', ATTR_VCS_REF_HEAD_NAME], type: 'string', from: ({ record }) => record.ref, absent: 'blank' },
  { keys: ['pipeline.tag'], type: 'bool', from: ({ record }) => record.tag, absent: 'unknown' },
  { keys: [ATTR_VCS_REF_HEAD_TYPE], type: 'string', from: ({ refType }) => refType, absent: 'unknown' },
  {
    keys: ['pipeline.sha', ATTR_VCS_REF_HEAD_REVISION],
    type: 'string',
    from: ({ record }) => record.sha,
    absent: 'blank',
  },
  {
    keys: ['pipeline.before_sha', ATTR_VCS_REF_BASE_REVISION],
    type: 'string',
    from: ({ record }) => record.beforeSha,
    absent: 'blank or all zeros',
  },
  { keys: ['pipeline.status'], type: 'string', from: ({ record }) => record.status, absent: 'never' },
  {
    keys: [ATTR_CICD_PIPELINE_RESULT],
    type: 'string',
    from: ({ result }) => result,
    absent: 'the status has no result',
  },
  {
    keys: [ATTR_CICD_PIPELINE_RUN_STATE],
    type: 'string',
    from: ({ record }) => entryOf(stateByStatus, record.status),
    absent: 'the status is final or has no state',
  },
  { keys: ['pipeline.detailed_status'], type: 'string', from: ({ record }) => record.detailedStatus, absent: 'blank' },
  {
    keys: ['pipeline.duration', 'svc.cicd.pipeline.run.duration'],
    type: 'double',
    from: ({ record }) => record.durationSeconds,
    absent: 'unknown (0 is kept)',
  },
  {
    keys: ['pipeline.queued_duration', 'svc.cicd.pipeline.run.queued_duration'],
    type: 'double',
    from: ({ record }) => record.queuedSeconds,
    absent: 'unknown (0 is kept)',
  },
  {
    keys: ['pipeline.protected_ref', 'svc.vcs.ref.head.protected'],
    type: 'bool',
    from: ({ record }) => record.protectedRef,
    absent: 'unknown',
  },
  {
    keys: ['pipeline.url', ATTR_CICD_PIPELINE_RUN_URL_FULL],
    type: 'string',
    from: ({ record }) => record.url,
    absent: 'neither given nor derivable from the project URL',
  },
  {
    keys: ['pipeline.stages', 'svc.cicd.pipeline.stages'],
    type: 'string[]',
    from: ({ record }) => record.stages,
    absent: 'no stages',
  },
  { keys: [ATTR_SVC_TRIGGER_TYPE], type: 'string', from: ({ record }) => record.source, absent: 'blank' },
  {
    keys: ['pipeline.user.id', 'svc.cicd.pipeline.user.id'],
    type: 'int',
    from: ({ user }) => user?.id,
    absent: 'unknown, or option `user`',
  },
  {
    keys: ['pipeline.user.username', 'svc.cicd.pipeline.user.username'],
    type: 'string',
    from: ({ user }) => user?.username,
    absent: 'unknown, or option `user`',
  },
  { keys: ['pipeline.commit.id'], type: 'string', from: ({ record }) => record.commit?.id, absent: 'no commit' },
  {
    keys: ['pipeline.commit.message', 'svc.vcs.ref.head.revision.message'],
    type: 'string',
    from: commitMessage,
    absent: 'no commit, or option `commitMessage`',
  },
  {
    keys: ['pipeline.merge_request.id'],
    type: 'int',
    from: ({ record }) => record.mergeRequest?.id,
    absent: 'no merge request',
  },
  {
    keys: ['pipeline.merge_request.iid'],
    type: 'int',
    from: ({ record }) => record.mergeRequest?.iid,
    absent: 'no merge request',
  },
  {
    keys: [ATTR_VCS_CHANGE_ID],
    type: 'string',
    from: ({ record }) => record.mergeRequest?.iid?.toString(),
    absent: 'no merge request, or its iid is unknown',
  },
  { keys: [ATTR_VCS_CHANGE_TITLE], type: 'string', from: ({ record }) => record.mergeRequest?.title, absent: 'blank' },
  {
    keys: [ATTR_VCS_CHANGE_STATE],
    type: 'string',
    from: ({ record }) => record.mergeRequest && changeStateOf(record.mergeRequest),
    absent: 'no merge request, or its state has no counterpart',
  },
  {
    keys: [ATTR_VCS_REF_BASE_NAME],
    type: 'string',
    from: ({ record }) => record.mergeRequest?.targetBranch,
    absent: 'blank',
  },
  {
    keys: [ATTR_VCS_REF_BASE_TYPE],
    type: 'string',
    from: ({ record }) => record.mergeRequest?.targetBranch && 'branch',
    absent: 'no merge request',
  },
  {
    keys: ['pipeline.source_pipeline.pipeline_id', 'svc.cicd.pipeline.source_pipeline.id'],
    type: 'int',
    from: ({ record }) => record.upstream?.pipelineId,
    absent: 'not started by another pipeline',
  },
  { keys: [ATTR_ERROR_TYPE], type: 'string', from: ({ errorType }) => errorType, absent: 'not failed' },
  {
    keys: ['svc.cicd.pipeline.run.coverage'],
    type: 'double',
    from: ({ record }) => record.coverage,
    extra: true,
    absent: 'unknown',
  },
  {
    keys: ['svc.cicd.pipeline.run.error.message'],
    type: 'string',
    from: ({ record }) => record.yamlErrors,
    extra: true,
    absent: 'the configuration was read',
  },
  {
    keys: ['svc.vcs.ref.head.status'],
    type: 'string',
    from: ({ record }) => record.refStatusName,
    extra: true,
    absent: 'the source does not say how the ref went',
  },
  {
    keys: [ATTR_SVC_TIMESTAMPS_ADJUSTED],
    type: 'bool',
    from: ({ times }) => times.adjusted || undefined,
    extension: true,
    absent: 'times are as given',
  },
  {
    keys: [ATTR_SVC_ROOT_RESOLVED],
    type: 'bool',
    from: ({ rootResolved }) => (rootResolved ? undefined : false),
    extension: true,
    absent: 'the root pipeline is known',
  },
]

function commitMessage({ record, options }: PipelineRun): string | undefined {
  if (options.commitMessage === 'omit') return undefined
  const message = record.commit?.message
  return options.commitMessage === 'include' ? message : (record.commit?.title ?? message?.split('\n', 1)[0])
}

function changeStateOf({ state, draft }: MergeRequestRecord): string | undefined {
  const changeState = state === undefined ? undefined : entryOf(changeStateByState, state)
  return draft && changeState === 'open' ? 'wip' : changeState
}
