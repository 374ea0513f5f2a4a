import { isObject } from '../body/fields.ts'
import { objectsById } from '../body/list-answer.ts'
import { tablePayload } from '../forge/table-payload.ts'

const runPaths = {
  'object_attributes.name': 'definition.name',
  'object_attributes.status': 'result',
  'object_attributes.ref': 'sourceBranch',
  'object_attributes.tag': 'sourceBranch',
  'object_attributes.sha': 'sourceVersion',
  'object_attributes.source': 'reason',
  'object_attributes.created_at': 'queueTime',
  'object_attributes.started_at': 'startTime',
  'object_attributes.finished_at': 'finishTime',
  'object_attributes.queued_duration': 'queueTime',
  'object_attributes.url': '_links.web.href',
  'user.id': 'requestedFor.id',
  'user.username': 'requestedFor.displayName',
  'commit.id': 'triggerInfo',
  'commit.message': 'triggerInfo',
  merge_request: 'triggerInfo',
  'merge_request.iid': 'triggerInfo',
  'merge_request.title': 'triggerInfo',
  'source_pipeline.pipeline_id': 'triggeredByBuild.id',
  'project.id': 'project.id',
  'project.name': 'repository.name',
  'project.web_url': 'repository.url',
  'project.path_with_namespace': 'repository.name',
} as const

const jobPaths = {
  'builds[].name': 'name',
  'builds[].stage': 'parentId',
  'builds[].status': 'result',
  'builds[].started_at': 'startTime',
  'builds[].finished_at': 'finishTime',
  'builds[].duration': 'finishTime',
  'builds[].failure_reason': 'result',
  'builds[].retries_count': 'attempt',
  'builds[].runner.description': 'workerName',
  'object_attributes.stages': 'timeline.records',
  'object_attributes.duration': 'timeline.records',
} as const

const below = (prefix: string) =>
  Object.fromEntries(Object.entries(runPaths).map(([field, path]) => [field, `${prefix}.${path}`]))

export const hookPayload = tablePayload({
  kind: 'pipeline hook',
  paths: below('resource'),
  jobsPath: 'jobs',
  jobs: () => new Map(),
})

export const bundlePayload = tablePayload({
  kind: 'REST bundle',
  paths: { ...below('build'), ...jobPaths },
  jobsPath: 'timeline.records',
  jobs: ({ timeline }) => objectsById(isObject(timeline) ? (timeline.records ?? timeline) : [], 'value'),
})
