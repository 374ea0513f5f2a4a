import { bodyFields, quoted } from '../body/fields.ts'
import type { PipelineRecord } from '../record/pipeline-record.ts'
import { JobVariablesError, type RunningJob } from '../record/running-job.ts'
import { newWarnings } from '../record/warnings.ts'
import { readPipelineWebhook } from './pipeline-webhook.ts'

/** Environment variables by name, as a process has them. */
export type Variables = Readonly<Record<string, string | undefined>>

/** A predefined variable of a CI job, and the field with the same value in the hook of the job's pipeline. */
interface VariableRow {
  readonly variable: string
  readonly field: string
  readonly kind: 'id' | 'text' | 'url'
  readonly required?: true
}

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

/** The longest value that is read, in UTF-8; real values are far shorter. */
const maxVariableBytes = 4_096

/** The time of receipt, which a record needs. The ids and attributes of a trace context do not depend on it. */
const anyTimeNs = 1n

/** The variable with which the trigger job of a parent pipeline passes the id of the root to the child pipeline. */
export const rootVariable = 'PENSTOCK_ROOT_PIPELINE_ID'

/**
 * Returns the job that the predefined variables describe.
 *
 * The variables are arranged as a hook and read by the reader of hooks, so that both are normalised in the same way.
 *
 * @throws {JobVariablesError} if a variable is missing or invalid, or if a job id is given
 */
export function readRunningJob(variables: Variables, jobId?: string): RunningJob {
  if (jobId !== undefined) throw new JobVariablesError('the variable CI_JOB_ID has the job id; do not give another one')
  return {
    record: recordOfJob(variables),
    passedRoot: () => {
      const id = readVariable(variables, { variable: rootVariable, kind: 'id' })
      return id === undefined ? undefined : BigInt(id)
    },
    variables: { projectUrl: 'CI_PROJECT_URL', source: 'CI_PIPELINE_SOURCE', root: rootVariable },
  }
}

function recordOfJob(variables: Variables): PipelineRecord {
  const body: Tree = {
    object_kind: 'pipeline',
    object_attributes: { status: 'running', tag: isSet(variables.CI_COMMIT_TAG) },
    job: { status: 'running' },
  }
  for (const row of rows) {
    const value = readVariable(variables, row)
    if (value !== undefined) setField(body, row.field, value)
  }
  const { job, ...hook } = body
  return readPipelineWebhook(bodyFields({ ...hook, builds: [job] }, newWarnings()), anyTimeNs)
}

/** Returns a variable's value; `undefined` if it is missing or empty. */
function readVariable(variables: Variables, { variable, kind, required }: Omit<VariableRow, 'field'>) {
  const value = variables[variable]
  if (!isSet(value)) {
    if (!required) return undefined
    throw new JobVariablesError(`${variable} is not set; this works inside a CI job only`)
  }
  validateText(variable, value)
  if (kind === 'id') validateId(variable, value)
  if (kind === 'url') validateUrl(variable, value)
  return value
}

const isSet = (value: string | undefined): value is string => value !== undefined && value !== ''

function validateText(name: string, value: string): void {
  if (Buffer.byteLength(value) > maxVariableBytes)
    throw new JobVariablesError(`${name}: must have at most ${maxVariableBytes} bytes`)
  if (/[\p{Cc}\u2028\u2029]/u.test(value))
    throw new JobVariablesError(`${name}: must be one line without control characters`)
}

/** Matches ids of up to 19 digits, the length of the largest id that OTLP can carry. */
const idPattern = /^[1-9]\d{0,18}$/
const maxId = 2n ** 63n - 1n

/** @throws {JobVariablesError} if the value is not the id of a pipeline or a job */
export function validateId(name: string, value: string): void {
  if (idPattern.test(value) && BigInt(value) <= maxId) return
  throw new JobVariablesError(`${name}: must be an integer from 1 to ${maxId}, got ${quoted(value)}`)
}

/** Validates a URL. The message does not repeat the value, because a URL may contain a password. */
function validateUrl(name: string, value: string): void {
  if (!/^https?:\/\//i.test(value) || !URL.canParse(value))
    throw new JobVariablesError(`${name}: must be an http or https URL`)
}

interface Tree {
  [key: string]: unknown
}

function setField(tree: Tree, field: string, value: string): void {
  const steps = field.split('.')
  const last = steps.pop()!
  let at = tree
  for (const step of steps) {
    at[step] ??= {}
    at = at[step] as Tree
  }
  at[last] = value
}
