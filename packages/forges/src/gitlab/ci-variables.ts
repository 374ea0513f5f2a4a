import {
  anyTimeNs,
  arrangeVariables,
  parseIntegerId,
  rootVariable,
  subtree,
  treeFields,
  type VariableRow,
  type Variables,
} from '../forge/job-variables.ts'
import type { PipelineRecord } from '../record/pipeline-record.ts'
import { JobVariablesError, type RunningJob } from '../record/running-job.ts'
import { readPipelineWebhook } from './pipeline-webhook.ts'

/** The predefined variables of a CI job, and the fields with the same values in the hook of the job's pipeline. */
const rows: readonly VariableRow[] = [
  { variable: 'CI_PIPELINE_ID', field: 'object_attributes.id', kind: 'id', required: true },
  { variable: 'CI_PIPELINE_NAME', field: 'object_attributes.name', kind: 'text' },
  { variable: 'CI_PIPELINE_SOURCE', field: 'object_attributes.source', kind: 'text' },
  { variable: 'CI_PIPELINE_URL', field: 'object_attributes.url', kind: 'url' },
  { variable: 'CI_COMMIT_REF_NAME', field: 'object_attributes.ref', kind: 'text' },
  { variable: 'CI_COMMIT_SHA', field: 'object_attributes.sha', kind: 'text' },
  { variable: 'CI_COMMIT_BEFORE_SHA', field: 'object_attributes.before_sha', kind: 'text' },
  { variable: 'CI_PROJECT_ID', field: 'project.id', kind: 'id' },
  // CI_PROJECT_NAME is the last segment of the path; hooks send the title.
  { variable: 'CI_PROJECT_TITLE', field: 'project.name', kind: 'text' },
  { variable: 'CI_PROJECT_URL', field: 'project.web_url', kind: 'url' },
  { variable: 'CI_PROJECT_PATH', field: 'project.path_with_namespace', kind: 'text' },
  { variable: 'CI_MERGE_REQUEST_IID', field: 'merge_request.iid', kind: 'id' },
  { variable: 'CI_MERGE_REQUEST_TITLE', field: 'merge_request.title', kind: 'text' },
  { variable: 'CI_MERGE_REQUEST_TARGET_BRANCH_NAME', field: 'merge_request.target_branch', kind: 'text' },
  { variable: 'CI_UPSTREAM_PIPELINE_ID', field: 'source_pipeline.pipeline_id', kind: 'id' },
  { variable: 'CI_UPSTREAM_JOB_ID', field: 'source_pipeline.job_id', kind: 'id' },
  { variable: 'CI_UPSTREAM_PROJECT_ID', field: 'source_pipeline.project.id', kind: 'id' },
  { variable: 'CI_JOB_ID', field: 'job.id', kind: 'id', required: true },
  { variable: 'CI_JOB_NAME', field: 'job.name', kind: 'text' },
  { variable: 'CI_JOB_STAGE', field: 'job.stage', kind: 'text' },
  { variable: 'CI_RUNNER_ID', field: 'job.runner.id', kind: 'id' },
  { variable: 'CI_RUNNER_DESCRIPTION', field: 'job.runner.description', kind: 'text' },
  { variable: 'CI_ENVIRONMENT_NAME', field: 'job.environment.name', kind: 'text' },
  { variable: 'CI_ENVIRONMENT_ACTION', field: 'job.environment.action', kind: 'text' },
  { variable: 'CI_ENVIRONMENT_TIER', field: 'job.environment.deployment_tier', kind: 'text' },
]

/**
 * Returns the job that the predefined variables describe.
 *
 * @throws {JobVariablesError} if a variable is missing or invalid, or if a job id is given
 */
export function readRunningJob(variables: Variables, jobId?: string): RunningJob {
  if (jobId !== undefined) throw new JobVariablesError('the variable CI_JOB_ID has the job id; do not give another one')
  return {
    record: readRecord(variables),
    passedRoot: variables[rootVariable] || undefined,
    parseRunId: parseIntegerId,
    variables: { projectUrl: 'CI_PROJECT_URL', source: 'CI_PIPELINE_SOURCE', root: rootVariable },
  }
}

function readRecord(variables: Variables): PipelineRecord {
  const { job, ...hook } = arrangeVariables(variables, rows)
  const run = { ...subtree(hook, 'object_attributes'), status: 'running', tag: Boolean(variables.CI_COMMIT_TAG) }
  const builds = [{ ...(job as object), status: 'running' }]
  return readPipelineWebhook(
    treeFields({ object_kind: 'pipeline', ...hook, object_attributes: run, builds }),
    anyTimeNs,
  )
}
