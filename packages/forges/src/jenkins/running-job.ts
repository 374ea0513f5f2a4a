import {
  anyTimeNs,
  arrangeVariables,
  parseTextId,
  rootVariable,
  subtree,
  treeFields,
  type VariableRow,
  type Variables,
} from '../forge/job-variables.ts'
import { JobVariablesError, type RunningJob } from '../record/running-job.ts'
import { readBuildPlace } from './job-name.ts'
import { readBundle } from './run.ts'

function validateBuildUrl(url: string): string {
  if (readBuildPlace(url) !== undefined) return url
  throw new JobVariablesError('BUILD_URL: must be the URL of the build, which names its job')
}

/** The variables of a build, and the fields with the same values in a build, its checkout and a stage. */
const rows: readonly VariableRow[] = [
  { variable: 'BUILD_NUMBER', field: 'build.number', kind: 'id', required: true },
  { variable: 'BUILD_URL', field: 'build.url', kind: 'url', required: true, toField: validateBuildUrl },
  { variable: 'GIT_COMMIT', field: 'checkout.SHA1', kind: 'text' },
  { variable: 'GIT_BRANCH', field: 'branch.name', kind: 'text' },
  { variable: 'GIT_URL', field: 'remote.url', kind: 'text' },
  { variable: 'STAGE_NAME', field: 'stage.name', kind: 'text' },
]

/**
 * Returns the job that the variables describe. No variable has the id of the stage, or the build that started this one: its id may be
 * passed on.
 *
 * @throws {JobVariablesError} if a variable is missing or invalid
 */
export function readRunningJob(variables: Variables, jobId?: string): RunningJob {
  const tree = arrangeVariables(variables, rows)
  const { url: remoteUrl } = subtree(tree, 'remote')
  const revision = { ...subtree(tree, 'checkout'), branch: [subtree(tree, 'branch')] }
  const checkout = { lastBuiltRevision: revision, remoteUrls: remoteUrl === undefined ? [] : [remoteUrl] }
  const stageId = jobId === undefined ? undefined : String(parseTextId('job id', jobId))
  const body = {
    build: { ...subtree(tree, 'build'), building: true, actions: tree.checkout === undefined ? [] : [checkout] },
    stages: {
      stages: stageId === undefined ? [] : [{ ...subtree(tree, 'stage'), id: stageId, status: 'IN_PROGRESS' }],
    },
  }
  return {
    record: readBundle(treeFields(body), anyTimeNs),
    passedRoot: variables[rootVariable] || undefined,
    isUpstreamUnknown: true,
    parseRunId: parseTextId,
    variables: { projectUrl: 'BUILD_URL', root: rootVariable },
  }
}
