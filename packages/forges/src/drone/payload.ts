import { isObject, type JsonObject } from '../body/fields.ts'
import { objectsById } from '../body/list-answer.ts'
import { tablePayload } from '../forge/table-payload.ts'

const runPaths = {
  'object_attributes.iid': 'number',
  'object_attributes.status': 'status',
  'object_attributes.ref': 'source',
  'object_attributes.tag': 'ref',
  'object_attributes.sha': 'after',
  'object_attributes.before_sha': 'before',
  'object_attributes.source': 'event',
  'object_attributes.created_at': 'created',
  'object_attributes.started_at': 'started',
  'object_attributes.finished_at': 'finished',
  'object_attributes.queued_duration': 'started',
  'object_attributes.duration': 'stages',
  'user.username': 'sender',
  'commit.id': 'after',
  'commit.message': 'message',
  merge_request: 'ref',
  'merge_request.iid': 'ref',
  'merge_request.title': 'title',
  'merge_request.target_branch': 'target',
} as const

const jobPaths = {
  'builds[].name': 'name',
  'builds[].status': 'status',
  'builds[].created_at': 'created',
  'builds[].started_at': 'started',
  'builds[].finished_at': 'stopped',
  'builds[].duration': 'stopped',
  'builds[].queued_duration': 'started',
  'builds[].failure_reason': 'status',
  'builds[].allow_failure': 'errignore',
  'builds[].runner.description': 'machine',
} as const

const inBuild = Object.fromEntries(Object.entries(runPaths).map(([field, path]) => [field, `build.${path}`]))
const buildStages = (build: unknown): ReadonlyMap<string, JsonObject> =>
  objectsById(isObject(build) ? build.stages : [], 'stages')

export const hookPayload = tablePayload({
  kind: 'pipeline hook',
  paths: {
    ...inBuild,
    ...jobPaths,
    'object_attributes.url': 'system.link',
    'project.id': 'repo.id',
    'project.name': 'repo.name',
    'project.web_url': 'repo.link',
    'project.path_with_namespace': 'repo.slug',
  },
  jobsPath: 'build.stages',
  jobs: ({ build }) => buildStages(build),
})

export const buildPayload = tablePayload({
  kind: 'REST bundle',
  paths: { ...runPaths, ...jobPaths },
  jobsPath: 'stages',
  jobs: buildStages,
})
