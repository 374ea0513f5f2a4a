import {
  anyTimeNs,
  arrangeVariables,
  chooseJobId,
  parseTextId,
  subtree,
  treeFields,
  type VariableRow,
  type Variables,
} from '../forge/job-variables.ts'
import type { RunningJob } from '../record/running-job.ts'
import { readBundle } from './run.ts'

/** The variables of a job, and the fields with the same values in `{ pipeline, workflow, jobs }`. */
const rows: readonly VariableRow[] = [
  { variable: 'CIRCLE_WORKFLOW_ID', field: 'workflow.id', kind: 'text', required: true },
  { variable: 'CIRCLE_BRANCH', field: 'pipeline.vcs.branch', kind: 'text' },
  { variable: 'CIRCLE_TAG', field: 'pipeline.vcs.tag', kind: 'text' },
  { variable: 'CIRCLE_SHA1', field: 'pipeline.vcs.revision', kind: 'text' },
  { variable: 'CIRCLE_REPOSITORY_URL', field: 'pipeline.vcs.target_repository_url', kind: 'text' },
  { variable: 'CIRCLE_PROJECT_REPONAME', field: 'project.name', kind: 'text' },
  { variable: 'CIRCLE_WORKFLOW_JOB_ID', field: 'job.id', kind: 'text' },
  { variable: 'CIRCLE_JOB', field: 'job.name', kind: 'text' },
]

/** Returns the job that the variables describe. No variable has the name of the workflow. @throws {JobVariablesError} */
export function readRunningJob(variables: Variables, givenJobId?: string): RunningJob {
  const jobId = chooseJobId(variables, 'CIRCLE_WORKFLOW_JOB_ID', givenJobId)
  const tree = arrangeVariables(variables, rows)
  const job = { ...subtree(tree, 'job'), id: jobId, status: 'running' }
  const body = {
    pipeline: subtree(tree, 'pipeline'),
    project: subtree(tree, 'project'),
    workflow: { ...subtree(tree, 'workflow'), status: 'running' },
    jobs: { items: jobId === undefined ? [] : [job] },
  }
  return {
    record: readBundle(treeFields(body), anyTimeNs),
    parseRunId: parseTextId,
    isNameUnknown: true,
    variables: { projectUrl: 'CIRCLE_REPOSITORY_URL' },
  }
}
