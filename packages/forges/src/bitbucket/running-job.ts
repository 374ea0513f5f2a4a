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

/** The variables of a step, and the fields with the same values in `{ pipeline, steps }`. */
const rows: readonly VariableRow[] = [
  { variable: 'BITBUCKET_PIPELINE_UUID', field: 'pipeline.uuid', kind: 'text', required: true },
  { variable: 'BITBUCKET_REPO_FULL_NAME', field: 'pipeline.repository.full_name', kind: 'text', required: true },
  { variable: 'BITBUCKET_REPO_UUID', field: 'pipeline.repository.uuid', kind: 'text' },
  { variable: 'BITBUCKET_BUILD_NUMBER', field: 'pipeline.build_number', kind: 'id' },
  // Failed steps that run again are of a later run of their pipeline.
  { variable: 'BITBUCKET_STEP_RUN_NUMBER', field: 'pipeline.run_number', kind: 'count' },
  { variable: 'BITBUCKET_BRANCH', field: 'target.ref_name', kind: 'text' },
  { variable: 'BITBUCKET_COMMIT', field: 'target.commit.hash', kind: 'text' },
  { variable: 'BITBUCKET_PR_ID', field: 'target.pullrequest.id', kind: 'id' },
  { variable: 'BITBUCKET_PR_DESTINATION_BRANCH', field: 'target.destination', kind: 'text' },
  { variable: 'BITBUCKET_STEP_UUID', field: 'step.uuid', kind: 'text' },
]
const tagRow: VariableRow = { variable: 'BITBUCKET_TAG', field: 'ref_name', kind: 'text' }

const running = { name: 'IN_PROGRESS' }

/** Returns the step that the variables describe. No variable has its name, or that of a custom pipeline. @throws {JobVariablesError} */
export function readRunningJob(variables: Variables, givenJobId?: string): RunningJob {
  const stepId = chooseJobId(variables, 'BITBUCKET_STEP_UUID', givenJobId)
  const tree = arrangeVariables(variables, rows)
  const tag = arrangeVariables(variables, [tagRow])
  const isTag = tag.ref_name !== undefined
  const target = { ...subtree(tree, 'target'), ...tag, ref_type: isTag ? 'tag' : 'branch' }
  const body = {
    pipeline: { ...subtree(tree, 'pipeline'), state: running, target },
    steps: stepId === undefined ? [] : [{ uuid: stepId, state: running }],
  }
  return {
    record: readBundle(treeFields(body), anyTimeNs),
    parseRunId: parseTextId,
    isNameUnknown: true,
    variables: { projectUrl: 'BITBUCKET_REPO_FULL_NAME' },
  }
}
