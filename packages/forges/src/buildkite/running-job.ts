import {
  anyTimeNs,
  arrangeVariables,
  chooseJobId,
  parseTextId,
  rootVariable,
  treeFields,
  type VariableRow,
  type Variables,
} from '../forge/job-variables.ts'
import type { RunningJob } from '../record/running-job.ts'
import { readBuild } from './run.ts'

/** The variables of a job, and the fields with the same values in a build. */
const rows: readonly VariableRow[] = [
  { variable: 'BUILDKITE_BUILD_ID', field: 'id', kind: 'text', required: true },
  { variable: 'BUILDKITE_BUILD_NUMBER', field: 'number', kind: 'count' },
  { variable: 'BUILDKITE_BUILD_URL', field: 'web_url', kind: 'url' },
  { variable: 'BUILDKITE_BRANCH', field: 'branch', kind: 'text' },
  { variable: 'BUILDKITE_TAG', field: 'tag', kind: 'text' },
  { variable: 'BUILDKITE_COMMIT', field: 'commit', kind: 'text' },
  { variable: 'BUILDKITE_SOURCE', field: 'source', kind: 'text' },
  { variable: 'BUILDKITE_TRIGGERED_FROM_BUILD_ID', field: 'triggered_from.build_id', kind: 'text' },
  // A build of no pull request has the word `false`.
  {
    variable: 'BUILDKITE_PULL_REQUEST',
    field: 'pull_request.id',
    kind: 'text',
    toField: (value) => (value === 'false' ? undefined : value),
  },
  { variable: 'BUILDKITE_PULL_REQUEST_BASE_BRANCH', field: 'pull_request.base', kind: 'text' },
  { variable: 'BUILDKITE_PIPELINE_ID', field: 'pipeline.id', kind: 'text' },
  { variable: 'BUILDKITE_PIPELINE_NAME', field: 'pipeline.name', kind: 'text' },
  { variable: 'BUILDKITE_PIPELINE_SLUG', field: 'pipeline.slug', kind: 'text' },
  { variable: 'BUILDKITE_REPO', field: 'pipeline.repository', kind: 'text' },
  { variable: 'BUILDKITE_JOB_ID', field: 'job.id', kind: 'text' },
  { variable: 'BUILDKITE_LABEL', field: 'job.name', kind: 'text' },
  { variable: 'BUILDKITE_STEP_KEY', field: 'job.step_key', kind: 'text' },
  { variable: 'BUILDKITE_RETRY_COUNT', field: 'job.retries_count', kind: 'count' },
  { variable: 'BUILDKITE_PARALLEL_JOB', field: 'job.parallel_group_index', kind: 'count' },
  { variable: 'BUILDKITE_AGENT_ID', field: 'job.agent.id', kind: 'text' },
  { variable: 'BUILDKITE_AGENT_NAME', field: 'job.agent.name', kind: 'text' },
]

/** Returns the job that the variables describe. @throws {JobVariablesError} if a variable is missing or invalid */
export function readRunningJob(variables: Variables, givenJobId?: string): RunningJob {
  const jobId = chooseJobId(variables, 'BUILDKITE_JOB_ID', givenJobId)
  const { job: given, ...build } = arrangeVariables(variables, rows)
  const job = { ...(given as object | undefined), id: jobId, type: 'script', state: 'running' }
  const body = { ...build, state: 'running', jobs: jobId === undefined ? [] : [job] }
  return {
    record: readBuild(treeFields(body), anyTimeNs),
    passedRoot: variables[rootVariable] || undefined,
    parseRunId: parseTextId,
    variables: { projectUrl: 'BUILDKITE_REPO', source: 'BUILDKITE_SOURCE', root: rootVariable },
  }
}
