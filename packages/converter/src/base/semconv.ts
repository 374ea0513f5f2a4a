/**
 * The names that the converter emits: constants of the semantic conventions, and our own names.
 *
 * `svc.` means the vendor namespace; `attribute-table.ts` replaces it when another one is configured.
 */
export {
  ATTR_CICD_PIPELINE_NAME,
  ATTR_CICD_PIPELINE_RESULT,
  ATTR_CICD_PIPELINE_RUN_ID,
  ATTR_CICD_PIPELINE_RUN_STATE,
  ATTR_CICD_PIPELINE_RUN_URL_FULL,
  ATTR_CICD_PIPELINE_TASK_NAME,
  ATTR_CICD_PIPELINE_TASK_RUN_ID,
  ATTR_CICD_PIPELINE_TASK_RUN_RESULT,
  ATTR_CICD_PIPELINE_TASK_RUN_URL_FULL,
  ATTR_CICD_PIPELINE_TASK_TYPE,
  ATTR_CICD_WORKER_ID,
  ATTR_CICD_WORKER_NAME,
  ATTR_CICD_WORKER_STATE,
  ATTR_CICD_WORKER_URL_FULL,
  ATTR_DEPLOYMENT_ENVIRONMENT,
  ATTR_DEPLOYMENT_ENVIRONMENT_NAME,
  ATTR_DEPLOYMENT_ID,
  ATTR_DEPLOYMENT_NAME,
  ATTR_DEPLOYMENT_STATUS,
  ATTR_ERROR_TYPE,
  ATTR_SERVICE_NAME,
  ATTR_SERVICE_VERSION,
  ATTR_VCS_CHANGE_ID,
  ATTR_VCS_CHANGE_STATE,
  ATTR_VCS_CHANGE_TITLE,
  ATTR_VCS_OWNER_NAME,
  ATTR_VCS_PROVIDER_NAME,
  ATTR_VCS_REF_BASE_NAME,
  ATTR_VCS_REF_BASE_REVISION,
  ATTR_VCS_REF_BASE_TYPE,
  ATTR_VCS_REF_HEAD_NAME,
  ATTR_VCS_REF_HEAD_REVISION,
  ATTR_VCS_REF_HEAD_TYPE,
  ATTR_VCS_REPOSITORY_NAME,
  ATTR_VCS_REPOSITORY_URL_FULL,
  METRIC_CICD_PIPELINE_RUN_DURATION,
  METRIC_CICD_PIPELINE_RUN_ERRORS,
} from '@opentelemetry/semantic-conventions/incubating'

/** The version of the semantic-convention registry that the names follow. */
export const SCHEMA_URL = 'https://opentelemetry.io/schemas/1.45.0'

// Not in the registry. They are emitted because the product's interface lists them.
export const ATTR_CICD_PIPELINE_TASK_RUN_STATE = 'cicd.pipeline.task.run.state'
export const METRIC_CICD_PIPELINE_RUN_COUNT = 'cicd.pipeline.run.count'
export const METRIC_CICD_PIPELINE_TASK_TOTAL = 'cicd.pipeline.task.total'
export const METRIC_CICD_PIPELINE_TASK_DURATION = 'cicd.pipeline.task.duration'

export const ATTR_SVC_REPOSITORY_ID = 'svc.vcs.repository.id'
export const ATTR_SVC_TRACE_ID = 'svc.cicd.pipeline.trace_id'
export const ATTR_SVC_TRIGGER_TYPE = 'svc.cicd.pipeline.trigger.type'
export const METRIC_SVC_RUN_QUEUED_DURATION = 'svc.cicd.pipeline.run.queued_duration'

// Extensions: keys that only Penstock defines (option `extensions`).
export const ATTR_SVC_LINK_TYPE = 'svc.cicd.link.type'
export const ATTR_SVC_ROOT_RESOLVED = 'svc.cicd.root.resolved'
export const ATTR_SVC_TIMESTAMPS_ADJUSTED = 'svc.cicd.timestamps.adjusted'
export const ATTR_SVC_TASK_RUN_EXECUTED = 'svc.cicd.pipeline.task.run.executed'
export const ATTR_SVC_TASK_GROUP = 'svc.cicd.pipeline.task.group'
export const ATTR_SVC_TASK_GROUP_INDEX = 'svc.cicd.pipeline.task.group_index'
export const ATTR_SVC_RUN_ATTEMPT = 'svc.cicd.pipeline.run.attempt'
export const ATTR_SVC_WORKER_GROUP = 'svc.cicd.worker.group'
export const ATTR_SVC_STEP_NAME = 'svc.cicd.pipeline.step.name'
export const ATTR_SVC_STEP_NUMBER = 'svc.cicd.pipeline.step.number'
export const ATTR_SVC_STEP_STATUS = 'svc.cicd.pipeline.step.status'
export const ATTR_SVC_STEP_RESULT = 'svc.cicd.pipeline.step.result'
export const ATTR_SVC_STEP_TITLE = 'svc.cicd.pipeline.step.title'
export const ATTR_SVC_TASK_FAILURE_LINES = 'svc.cicd.pipeline.task.failure.lines'
export const ATTR_SVC_TASK_FAILURE_FINGERPRINT = 'svc.cicd.pipeline.task.failure.fingerprint'
export const EVENT_SVC_JOB_FAILURE = 'svc.job.failure'
export const ATTR_SVC_TASK_RUN_ATTEMPT = 'svc.cicd.pipeline.task.run.attempt'
