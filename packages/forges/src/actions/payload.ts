import { isObject, type JsonObject } from '../body/fields.ts'
import { type FieldTable, tablePayload } from '../forge/table-payload.ts'
import type { Payload } from '../record/payload.ts'

type Paths = Readonly<Record<string, string>>

/** The fields of runs of GitHub and Gitea, within the run. */
const sharedPaths: Paths = {
  'object_attributes.iid': 'run_number',
  'object_attributes.status': 'status',
  'object_attributes.detailed_status': 'conclusion',
  'object_attributes.ref': 'head_branch',
  'object_attributes.sha': 'head_sha',
  'object_attributes.source': 'event',
  'object_attributes.url': 'html_url',
  'object_attributes.created_at': 'created_at',
  'project.id': 'repository.id',
  'project.name': 'repository.name',
  'project.web_url': 'repository.html_url',
  'project.path_with_namespace': 'repository.full_name',
  merge_request: 'pull_requests',
  'merge_request.id': 'pull_requests',
  'merge_request.iid': 'pull_requests',
  'merge_request.target_branch': 'pull_requests',
}

export const githubPaths: Paths = {
  ...sharedPaths,
  'object_attributes.name': 'name',
  'object_attributes.tag': 'event',
  'object_attributes.finished_at': 'updated_at',
  'user.id': 'triggering_actor.id',
  'user.username': 'triggering_actor.login',
  'commit.id': 'head_commit.id',
  'commit.message': 'head_commit.message',
}

export const giteaPaths: Paths = {
  ...sharedPaths,
  'object_attributes.name': 'path',
  'object_attributes.tag': 'path',
  'object_attributes.finished_at': 'completed_at',
  'merge_request.title': 'pull_requests',
  'merge_request.state': 'pull_requests',
  'user.id': 'trigger_actor.id',
  'user.username': 'trigger_actor.login',
}

export const forgejoPaths: Paths = {
  'object_attributes.iid': 'index_in_repo',
  'object_attributes.name': 'workflow_id',
  'object_attributes.status': 'status',
  'object_attributes.detailed_status': 'status',
  'object_attributes.ref': 'prettyref',
  'object_attributes.sha': 'commit_sha',
  'object_attributes.source': 'trigger_event',
  'object_attributes.url': 'html_url',
  'object_attributes.created_at': 'created',
  'object_attributes.finished_at': 'stopped',
  'object_attributes.duration': 'duration',
  'project.id': 'repository.id',
  'project.name': 'repository.name',
  'project.web_url': 'repository.html_url',
  'project.path_with_namespace': 'repository.full_name',
  merge_request: 'prettyref',
  'merge_request.iid': 'prettyref',
  'user.id': 'trigger_user.id',
  'user.username': 'trigger_user.login',
}

/** The fields of jobs, within the job. */
export const actionsJobPaths: Paths = {
  'builds[].name': 'name',
  'builds[].web_url': 'html_url',
  'builds[].created_at': 'created_at',
  'builds[].duration': 'completed_at',
  'builds[].queued_duration': 'started_at',
  'builds[].retries_count': 'run_attempt',
  'builds[].tag_list': 'labels',
  'builds[].runner.id': 'runner_id',
  'builds[].runner.description': 'runner_name',
  'builds[].runner.tags': 'labels',
}

/** Only GitHub has conclusions that are reasons of a failure. */
export const githubJobPaths: Paths = { ...actionsJobPaths, 'builds[].failure_reason': 'conclusion' }

export const forgejoJobPaths: Paths = {
  'builds[].name': 'name',
  'builds[].duration': 'steps',
  'builds[].retries_count': 'attempt',
  'builds[].tag_list': 'runs_on',
}

/** Returns the fields of run hooks. Their run is in `runKey`, and they have no jobs. */
export const runHookPayload = (runKey: string, paths: Paths): ((values: JsonObject) => Payload) =>
  tablePayload({ kind: 'pipeline hook', paths: within(runKey, paths), jobsPath: 'jobs', jobs: () => new Map() })

/** Returns the fields of bundles of a run and its jobs. */
export const bundlePayload = (paths: Paths, jobPaths: Paths): ((values: JsonObject) => Payload) =>
  tablePayload({
    kind: 'REST bundle',
    paths: { 'object_attributes.duration': 'jobs', ...within('run', paths), ...jobPaths },
    jobsPath: 'jobs',
    jobs: jobsById,
  })

const within = (key: string, paths: Paths): Paths =>
  Object.fromEntries(Object.entries(paths).map(([field, path]) => [field, `${key}.${path}`]))

const jobsById: FieldTable['jobs'] = ({ jobs }) => {
  const pages = Array.isArray(jobs) ? jobs : [jobs]
  const listed = pages.flatMap((page) => (isObject(page) ? (page.jobs ?? page.workflow_jobs ?? page) : []))
  return new Map(listed.filter(isObject).map((job) => [String(job.id), job]))
}
