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
  {
    keys: ['pipeline.iid'],
    type: 'int',
    from: ({ record }) => record.iid,
    needs: ['object_attributes.iid'],
    absent: 'unknown',
  },
  {
    keys: ['pipeline.name'],
    type: 'string',
    from: ({ record }) => record.name,
    needs: ['object_attributes.name'],
    absent: 'the pipeline has no name',
  },
  {
    keys: [ATTR_CICD_PIPELINE_NAME],
    type: 'string',
    from: ({ record }) => record.name ?? record.project.name,
    needs: ['object_attributes.name', 'project.name'],
    absent: 'neither the pipeline nor the project has a name',
  },
  {
    keys: ['pipeline.ref', ATTR_VCS_REF_HEAD_NAME],
    type: 'string',
    from: ({ record }) => record.ref,
    needs: ['object_attributes.ref'],
    absent: 'blank',
  },
  {
    keys: ['pipeline.tag'],
    type: 'bool',
    from: ({ record }) => record.tag,
    needs: ['object_attributes.tag'],
    absent: 'unknown',
  },
  {
    keys: [ATTR_VCS_REF_HEAD_TYPE],
    type: 'string',
    from: ({ refType }) => refType,
    needs: ['object_attributes.tag', 'merge_request'],
    absent: 'unknown',
  },
  {
    keys: ['pipeline.sha', ATTR_VCS_REF_HEAD_REVISION],
    type: 'string',
    from: ({ record }) => record.sha,
    needs: ['object_attributes.sha'],
    absent: 'blank',
  },
  {
    keys: ['pipeline.before_sha', ATTR_VCS_REF_BASE_REVISION],
    type: 'string',
    from: ({ record }) => record.beforeSha,
    needs: ['object_attributes.before_sha'],
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
  {
    keys: ['pipeline.detailed_status'],
    type: 'string',
    from: ({ record }) => record.detailedStatus,
    needs: ['object_attributes.detailed_status'],
    absent: 'blank',
  },
  {
    keys: ['pipeline.duration', 'svc.cicd.pipeline.run.duration'],
    type: 'double',
    from: ({ record }) => record.durationSeconds,
    needs: ['object_attributes.duration'],
    absent: 'unknown (0 is kept)',
  },
  {
    keys: ['pipeline.queued_duration', 'svc.cicd.pipeline.run.queued_duration'],
    type: 'double',
    from: ({ record }) => record.queuedSeconds,
    needs: ['object_attributes.queued_duration'],
    absent: 'unknown (0 is kept)',
  },
  {
    keys: ['pipeline.protected_ref', 'svc.vcs.ref.head.protected'],
    type: 'bool',
    from: ({ record }) => record.protectedRef,
    needs: ['object_attributes.protected_ref'],
    absent: 'unknown',
  },
  {
    keys: ['pipeline.url', ATTR_CICD_PIPELINE_RUN_URL_FULL],
    type: 'string',
    from: ({ record }) => record.url,
    needs: ['object_attributes.url', 'project.web_url'],
    absent: 'neither given nor derivable from the project URL',
  },
  {
    keys: ['pipeline.stages', 'svc.cicd.pipeline.stages'],
    type: 'string[]',
    from: ({ record }) => record.stages,
    needs: ['object_attributes.stages'],
    absent: 'no stages',
  },
  {
    keys: [ATTR_SVC_TRIGGER_TYPE],
    type: 'string',
    from: ({ record }) => record.source,
    needs: ['object_attributes.source'],
    absent: 'blank',
  },
  {
    keys: ['pipeline.user.id', 'svc.cicd.pipeline.user.id'],
    type: 'int',
    from: ({ user }) => user?.id,
    needs: ['user.id'],
    absent: 'unknown, or option `user`',
  },
  {
    keys: ['pipeline.user.username', 'svc.cicd.pipeline.user.username'],
    type: 'string',
    from: ({ user }) => user?.username,
    needs: ['user.username'],
    absent: 'unknown, or option `user`',
  },
  {
    keys: ['pipeline.commit.id'],
    type: 'string',
    from: ({ record }) => record.commit?.id,
    needs: ['commit.id'],
    absent: 'no commit',
  },
  {
    keys: ['pipeline.commit.message', 'svc.vcs.ref.head.revision.message'],
    type: 'string',
    from: commitMessage,
    needs: ['commit.message'],
    absent: 'no commit, or option `commitMessage`',
  },
  {
    keys: ['pipeline.merge_request.id'],
    type: 'int',
    from: ({ record }) => record.mergeRequest?.id,
    needs: ['merge_request.id'],
    absent: 'no merge request',
  },
  {
    keys: ['pipeline.merge_request.iid'],
    type: 'int',
    from: ({ record }) => record.mergeRequest?.iid,
    needs: ['merge_request.iid'],
    absent: 'no merge request',
  },
  {
    keys: [ATTR_VCS_CHANGE_ID],
    type: 'string',
    from: ({ record }) => record.mergeRequest?.iid?.toString(),
    needs: ['merge_request.iid'],
    absent: 'no merge request, or its iid is unknown',
  },
  {
    keys: [ATTR_VCS_CHANGE_TITLE],
    type: 'string',
    from: ({ record }) => record.mergeRequest?.title,
    needs: ['merge_request.title'],
    absent: 'blank',
  },
  {
    keys: [ATTR_VCS_CHANGE_STATE],
    type: 'string',
    from: ({ record }) => record.mergeRequest && changeStateOf(record.mergeRequest),
    needs: ['merge_request.state'],
    absent: 'no merge request, or its state has no counterpart',
  },
  {
    keys: [ATTR_VCS_REF_BASE_NAME],
    type: 'string',
    from: ({ record }) => record.mergeRequest?.targetBranch,
    needs: ['merge_request.target_branch'],
    absent: 'blank',
  },
  {
    keys: [ATTR_VCS_REF_BASE_TYPE],
    type: 'string',
    from: ({ record }) => record.mergeRequest?.targetBranch && 'branch',
    needs: ['merge_request.target_branch'],
    absent: 'no merge request',
  },
  {
    keys: ['pipeline.source_pipeline.pipeline_id', 'svc.cicd.pipeline.source_pipeline.id'],
    type: 'int',
    from: ({ record }) => record.upstream?.pipelineId,
    needs: ['source_pipeline.pipeline_id'],
    absent: 'not started by another pipeline',
  },
  { keys: [ATTR_ERROR_TYPE], type: 'string', from: ({ errorType }) => errorType, absent: 'not failed' },
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
