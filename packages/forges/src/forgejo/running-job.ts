import { workflowVariables } from '../actions/running-job.ts'
import {
  anyTimeNs,
  arrangeVariables,
  parseIntegerId,
  treeFields,
  type VariableRow,
  type Variables,
} from '../forge/job-variables.ts'
import type { RunningJob } from '../record/running-job.ts'
import { readJobs, readRun } from './run.ts'

const rows: readonly VariableRow[] = [
  ...workflowVariables,
  { variable: 'GITHUB_RUN_NUMBER', field: 'index_in_repo', kind: 'id' },
  { variable: 'GITHUB_REF_NAME', field: 'prettyref', kind: 'text' },
]

/**
 * Returns the job that the variables of a workflow describe. No variable has the job's id or its name; without `jobId`, the record
 * has no job. Versions differ in whether a variable has the file of the workflow or its name.
 *
 * @throws {JobVariablesError} if a variable is missing or invalid
 */
export function readRunningJob(variables: Variables, jobId?: string): RunningJob {
  const { server, event, head_sha, prettyref, ...rest } = arrangeVariables(variables, rows)
  const isPullRequest = String(event).startsWith('pull_request')
  const repository = rest.repository as { readonly full_name: string }
  const webUrl = `${server}/${repository.full_name}`
  const run = {
    id: rest.id,
    index_in_repo: rest.index_in_repo,
    trigger_event: event,
    status: 'running',
    // The run of a pull request has other words for its branch and its commit than the variables.
    prettyref: isPullRequest ? undefined : prettyref,
    commit_sha: isPullRequest ? undefined : head_sha,
    html_url: rest.index_in_repo === undefined ? undefined : `${webUrl}/actions/runs/${rest.index_in_repo}`,
    repository: { ...repository, html_url: webUrl },
  }
  const id = jobId === undefined ? undefined : parseIntegerId('job id', jobId)
  const jobs = id === undefined ? [] : [{ id: String(id), status: 'running' }]
  return {
    record: { ...readRun(treeFields(run)), ...readJobs(treeFields({ jobs })), receivedAtNs: anyTimeNs },
    parseRunId: parseIntegerId,
    isNameUnknown: true,
    variables: { projectUrl: 'GITHUB_SERVER_URL', source: 'GITHUB_EVENT_NAME' },
  }
}
