import { objectsById } from '../body/list-answer.ts'
import { type FieldTable, tablePayload } from '../forge/table-payload.ts'

const runPaths = {
  'object_attributes.iid': 'pipeline.number',
  'object_attributes.name': 'workflow.name',
  'object_attributes.status': 'workflow.status',
  'object_attributes.ref': 'pipeline.vcs.branch',
  'object_attributes.tag': 'pipeline.vcs.tag',
  'object_attributes.sha': 'pipeline.vcs.revision',
  'object_attributes.source': 'pipeline.trigger.type',
  'object_attributes.created_at': 'workflow.created_at',
  'object_attributes.finished_at': 'workflow.stopped_at',
  'user.username': 'pipeline.trigger.actor.login',
  'commit.id': 'pipeline.vcs.revision',
  'commit.message': 'pipeline.vcs.commit.subject',
  'merge_request.iid': 'pipeline.vcs.review_id',
  'project.web_url': 'pipeline.vcs.target_repository_url',
} as const

const jobPaths = {
  'builds[].name': 'name',
  'builds[].status': 'status',
  'builds[].started_at': 'started_at',
  'builds[].finished_at': 'stopped_at',
  'builds[].duration': 'stopped_at',
  'builds[].failure_reason': 'status',
  'builds[].web_url': 'job_number',
  'builds[].manual': 'approval_request_id',
} as const

const hookTable: FieldTable = {
  kind: 'pipeline hook',
  paths: {
    ...runPaths,
    'object_attributes.url': 'workflow.url',
    'project.id': 'project.id',
    'project.name': 'project.name',
    'project.path_with_namespace': 'project.slug',
  },
  jobsPath: 'jobs',
  jobs: () => new Map(),
}

const bundleTable: FieldTable = {
  kind: 'REST bundle',
  paths: {
    ...runPaths,
    ...jobPaths,
    'object_attributes.url': 'pipeline.number',
    'object_attributes.duration': 'jobs',
    'project.name': 'pipeline.project_slug',
    'project.path_with_namespace': 'pipeline.project_slug',
  },
  jobsPath: 'jobs',
  jobs: ({ jobs }) => objectsById(jobs, 'items'),
}

export const hookPayload = tablePayload(hookTable)
export const bundlePayload = tablePayload(bundleTable)
