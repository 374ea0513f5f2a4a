import { objectsById } from '../body/list-answer.ts'
import { tablePayload } from '../forge/table-payload.ts'

export const pipelinePayload = tablePayload({
  kind: 'REST bundle',
  paths: {
    'object_attributes.iid': 'number',
    'object_attributes.status': 'status',
    'object_attributes.ref': 'branch',
    'object_attributes.tag': 'ref',
    'object_attributes.sha': 'commit',
    'object_attributes.source': 'event',
    'object_attributes.created_at': 'created',
    'object_attributes.started_at': 'started',
    'object_attributes.finished_at': 'finished',
    'object_attributes.queued_duration': 'started',
    'object_attributes.duration': 'workflows',
    'user.username': 'sender',
    'commit.id': 'commit',
    'commit.message': 'message',
    merge_request: 'refspec',
    'merge_request.iid': 'ref',
    'merge_request.title': 'title',
    'merge_request.target_branch': 'branch',
    'builds[].name': 'name',
    'builds[].status': 'state',
    'builds[].started_at': 'started',
    'builds[].finished_at': 'finished',
    'builds[].duration': 'finished',
    'builds[].runner.id': 'agent_id',
  },
  jobsPath: 'workflows',
  jobs: ({ workflows }) => objectsById(workflows, 'workflows'),
})
