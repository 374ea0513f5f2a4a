import {
  anyTimeNs,
  arrangeVariables,
  chooseJobId,
  type FieldTree,
  parseIntegerId,
  subtree,
  treeFields,
  type VariableRow,
  type Variables,
} from '../forge/job-variables.ts'
import type { RunningJob } from '../record/running-job.ts'
import { readBundle } from './run.ts'

/** Returns a reason as builds have it: `individualCI` for `IndividualCI`. */
const lowerFirst = (word: string): string => `${word.charAt(0).toLowerCase()}${word.slice(1)}`

/** The variables of a job, and the fields with the same values in a build, its trigger and the record of the job. */
const rows: readonly VariableRow[] = [
  { variable: 'BUILD_BUILDID', field: 'build.id', kind: 'id', required: true },
  {
    variable: 'SYSTEM_TEAMFOUNDATIONCOLLECTIONURI',
    field: 'collection',
    kind: 'url',
    required: true,
    toField: (url) => url.replace(/\/+$/, ''),
  },
  { variable: 'SYSTEM_TEAMPROJECTID', field: 'build.project.id', kind: 'text', required: true },
  { variable: 'SYSTEM_TEAMPROJECT', field: 'build.project.name', kind: 'text' },
  { variable: 'BUILD_DEFINITIONNAME', field: 'build.definition.name', kind: 'text' },
  { variable: 'BUILD_REASON', field: 'build.reason', kind: 'text', toField: lowerFirst },
  { variable: 'BUILD_SOURCEBRANCH', field: 'build.sourceBranch', kind: 'text' },
  { variable: 'BUILD_SOURCEVERSION', field: 'build.sourceVersion', kind: 'text' },
  { variable: 'BUILD_REPOSITORY_URI', field: 'build.repository.url', kind: 'text' },
  { variable: 'BUILD_REPOSITORY_NAME', field: 'build.repository.name', kind: 'text' },
  { variable: 'BUILD_TRIGGEREDBY_BUILDID', field: 'build.triggeredByBuild.id', kind: 'id' },
  { variable: 'SYSTEM_PULLREQUEST_PULLREQUESTNUMBER', field: 'request.number', kind: 'id' },
  { variable: 'SYSTEM_PULLREQUEST_SOURCEBRANCH', field: 'request.branch', kind: 'text' },
  { variable: 'SYSTEM_JOBID', field: 'job.id', kind: 'text' },
  { variable: 'SYSTEM_JOBDISPLAYNAME', field: 'job.name', kind: 'text' },
  { variable: 'SYSTEM_JOBATTEMPT', field: 'job.attempt', kind: 'count' },
  { variable: 'SYSTEM_STAGEDISPLAYNAME', field: 'stage.name', kind: 'text' },
]

const STAGE_ID = 'stage'

/** Returns the job that the variables describe. @throws {JobVariablesError} if a variable is missing or invalid */
export function readRunningJob(variables: Variables, givenJobId?: string): RunningJob {
  const jobId = chooseJobId(variables, 'SYSTEM_JOBID', givenJobId)
  const tree = arrangeVariables(variables, rows)
  const job = { ...subtree(tree, 'job'), id: jobId, parentId: STAGE_ID, type: 'Job', state: 'inProgress' }
  const stage = { ...subtree(tree, 'stage'), id: STAGE_ID, type: 'Stage', state: 'inProgress' }
  const body = { build: toBuild(tree), timeline: { records: jobId === undefined ? [] : [stage, job] } }
  return {
    record: readBundle(treeFields(body), anyTimeNs),
    parseRunId: parseIntegerId,
    variables: { projectUrl: 'SYSTEM_TEAMFOUNDATIONCOLLECTIONURI', source: 'BUILD_REASON' },
  }
}

function toBuild(tree: FieldTree): FieldTree {
  const build = subtree(tree, 'build')
  const request = subtree(tree, 'request')
  const project = `${tree.collection}/${subtree(build, 'project').id}`
  return {
    ...build,
    status: 'inProgress',
    url: `${project}/_apis/build/Builds/${build.id}`,
    _links: { web: { href: `${project}/_build/results?buildId=${build.id}` } },
    triggerInfo: { 'pr.number': request.number, 'pr.sourceBranch': request.branch },
  }
}
