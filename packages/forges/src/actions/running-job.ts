import { lastSegment } from '../body/url.ts'
import {
  anyTimeNs,
  arrangeVariables,
  parseIntegerId,
  parseTextId,
  treeFields,
  type VariableRow,
  type Variables,
} from '../forge/job-variables.ts'
import { absentJobFields } from '../record/absent-fields.ts'
import type { RunningJob } from '../record/running-job.ts'
import type { ActionsReader } from './bodies.ts'

/** The variables of a workflow, and the fields with the same values in a run. */
export const workflowVariables: readonly VariableRow[] = [
  { variable: 'GITHUB_RUN_ID', field: 'id', kind: 'id', required: true },
  { variable: 'GITHUB_RUN_ATTEMPT', field: 'run_attempt', kind: 'count' },
  { variable: 'GITHUB_WORKFLOW', field: 'name', kind: 'text' },
  { variable: 'GITHUB_EVENT_NAME', field: 'event', kind: 'text' },
  { variable: 'GITHUB_SHA', field: 'head_sha', kind: 'text' },
  { variable: 'GITHUB_REPOSITORY_ID', field: 'repository.id', kind: 'id' },
  { variable: 'GITHUB_REPOSITORY', field: 'repository.full_name', kind: 'text', required: true },
  {
    variable: 'GITHUB_SERVER_URL',
    field: 'server',
    kind: 'url',
    required: true,
    toField: (url) => url.replace(/\/+$/, ''),
  },
]

const refRow = (variable: string, toField?: VariableRow['toField']): VariableRow => ({
  ...{ variable, field: 'head_branch', kind: 'text' },
  ...(toField && { toField }),
})
const onlyRequestRef = (ref: string): string | undefined => (ref.startsWith('refs/pull/') ? ref : undefined)

/** The variables with the ref of a run. The last one that is set is used. */
const refVariables: readonly VariableRow[] = [refRow('GITHUB_REF_NAME'), refRow('GITHUB_HEAD_REF')]
/** The same for a pull request: hooks of GitHub name the branch, and those of Gitea the ref of the pull request. */
const requestRefVariables = {
  github: [refRow('GITHUB_HEAD_REF')],
  gitea: [refRow('GITHUB_REF', onlyRequestRef)],
} as const

/** The part of a job's URL before its id. */
const jobSegment = { github: 'job', gitea: 'jobs' } as const

/**
 * Returns the job that the variables of a workflow describe. No variable has the job's id or its name; without `jobId`, the record
 * has no job.
 *
 * @throws {JobVariablesError} if a variable is missing or invalid
 */
export function readWorkflowJob(variables: Variables, jobId: string | undefined, reader: ActionsReader): RunningJob {
  const run = reader.readRun(treeFields(toRun(variables, reader)), treeFields({}))
  const id = jobId === undefined ? undefined : parseIntegerId('job id', jobId)
  const job = id !== undefined && {
    ...absentJobFields,
    id,
    bridge: false,
    status: 'running',
    url: run.url && `${run.url}/${jobSegment[reader.forge]}/${id}`,
    allowFailure: false,
    effective: true,
  }
  return {
    record: { ...run, jobs: job ? [job] : [], receivedAtNs: anyTimeNs },
    parseRunId: parseTextId,
    isNameUnknown: reader.forge === 'gitea' || undefined,
    variables: { projectUrl: 'GITHUB_SERVER_URL', source: 'GITHUB_EVENT_NAME' },
  }
}

function toRun(variables: Variables, { forge }: ActionsReader) {
  const { server, name, head_sha, ...run } = arrangeVariables(variables, workflowVariables)
  // The commit of a pull request is the one of its merge, which the run does not name.
  const isPullRequest = String(run.event).startsWith('pull_request')
  const branch = arrangeVariables(variables, isPullRequest ? requestRefVariables[forge] : refVariables)
  const repository = run.repository as { readonly full_name: string }
  const webUrl = `${server}/${repository.full_name}`
  return {
    ...run,
    ...branch,
    // Runs of versions that count no attempts have none.
    run_attempt: run.run_attempt ?? 1,
    status: 'in_progress',
    // Gitea's variable has the file of the workflow, the hook has its name.
    name: forge === 'github' ? name : undefined,
    head_sha: isPullRequest ? undefined : head_sha,
    html_url: `${webUrl}/actions/runs/${run.id}`,
    repository: { ...repository, name: lastSegment(repository.full_name), html_url: webUrl },
  }
}
