import { isObject, type JsonObject } from '../body/fields.ts'
import { objectsById } from '../body/list-answer.ts'
import { tablePayload } from '../forge/table-payload.ts'

const runPaths = {
  'object_attributes.iid': 'number',
  'object_attributes.status': 'state',
  'object_attributes.ref': 'branch',
  'object_attributes.tag': 'tag',
  'object_attributes.sha': 'commit',
  'object_attributes.source': 'source',
  'object_attributes.created_at': 'created_at',
  'object_attributes.started_at': 'started_at',
  'object_attributes.finished_at': 'finished_at',
  'object_attributes.queued_duration': 'started_at',
  'object_attributes.duration': 'jobs',
  'object_attributes.url': 'web_url',
  'user.id': 'creator.id',
  'user.username': 'creator.name',
  'commit.id': 'commit',
  'commit.message': 'message',
  merge_request: 'pull_request',
  'merge_request.iid': 'pull_request.id',
  'merge_request.target_branch': 'pull_request.base',
  'source_pipeline.pipeline_id': 'triggered_from.build_id',
} as const

const pipelinePaths = {
  'object_attributes.name': 'pipeline.name',
  'project.id': 'pipeline.id',
  'project.name': 'pipeline.repository',
  'project.web_url': 'pipeline.repository',
  'project.path_with_namespace': 'pipeline.repository',
} as const

const jobPaths = {
  'builds[].name': 'name',
  'builds[].status': 'state',
  'builds[].created_at': 'created_at',
  'builds[].started_at': 'started_at',
  'builds[].finished_at': 'finished_at',
  'builds[].duration': 'finished_at',
  'builds[].queued_duration': 'runnable_at',
  'builds[].web_url': 'web_url',
  'builds[].allow_failure': 'soft_failed',
  'builds[].failure_reason': 'signal_reason',
  'builds[].retries_count': 'retries_count',
  'builds[].tag_list': 'agent_query_rules',
  'builds[].runner.id': 'agent.id',
  'builds[].runner.description': 'agent.name',
  'builds[].runner.tags': 'agent.meta_data',
} as const

const inBuild = Object.fromEntries(Object.entries(runPaths).map(([field, path]) => [field, `build.${path}`]))

const buildJobs = (build: unknown): ReadonlyMap<string, JsonObject> =>
  objectsById(isObject(build) ? build.jobs : [], 'jobs')

export const hookPayload = tablePayload({
  kind: 'pipeline hook',
  paths: { ...inBuild, ...pipelinePaths, ...jobPaths },
  jobsPath: 'build.jobs',
  jobs: ({ build }) => buildJobs(build),
})

export const buildPayload = tablePayload({
  kind: 'REST bundle',
  paths: { ...runPaths, ...pipelinePaths, ...jobPaths },
  jobsPath: 'jobs',
  jobs: buildJobs,
})
