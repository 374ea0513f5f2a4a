import { type Answer, leastOf, type MatrixRow } from './http-matrix-row.ts'
import {
  burndownEvent,
  groupMilestone,
  issue,
  label,
  listOf,
  mergeRequest,
  projectMilestone,
  variable,
} from './http-matrix-shapes.ts'

const kinds = ['project', 'group'] as const
const everyone = { visitors: 'anyone' } as const

/** interface-2 4.6, 5; rest-part2-details 8.2: the same of groups and of projects. */
const milestoneRows = kinds.flatMap((kind): MatrixRow[] => {
  const all = `/${kind}s/:id/milestones`
  const one = `${all}/:milestone_id`
  const shape = kind === 'group' ? groupMilestone : projectMilestone
  const reads = { spec: 'rest-part2-details 8.2', may: leastOf(kind, 10), visitors: 'signed in' } as const
  const needs = ['milestone'] as const
  const contents = ['milestone contents'] as const
  return [
    { call: `GET ${all}`, ...reads, answer: [200, listOf(shape)], needs },
    { call: `GET ${one}`, ...reads, answer: [200, shape], needs },
    { call: `GET ${one}/issues`, ...reads, answer: [200, listOf(issue)], needs: contents },
    // Guests do not see merge requests of private projects.
    {
      call: `GET ${one}/merge_requests`,
      ...reads,
      answer: [200, listOf(mergeRequest)],
      needs: contents,
      mayBeEmpty: true,
    },
    { call: `GET ${one}/burndown_events`, ...reads, answer: [200, listOf(burndownEvent)], needs: contents },
    {
      call: `POST ${all}`,
      spec: 'rest-part2-details 8.2, 8.5',
      may: leastOf(kind, 15),
      answer: [201, shape],
      send: { title: 'Autumn' },
    },
    {
      call: `PUT ${one}`,
      spec: 'rest-part2-details 8.2, 8.6; interface-2 3',
      may: leastOf(kind, 15),
      answer: [200, shape],
      needs,
      send: { state_event: 'close' },
    },
    {
      call: `DELETE ${one}`,
      spec: 'interface-2 5; rest-part2-details 8.2, 8.7',
      may: leastOf(kind, 30),
      answer: [204],
      needs,
    },
  ]
})

const labelRows = kinds.flatMap((kind): MatrixRow[] => {
  const all = `/${kind}s/:id/labels`
  const reads = { spec: 'platform', may: leastOf(kind, 10), ...everyone } as const
  const writes = { spec: 'platform', may: leastOf(kind, 15), needs: ['label'] } as const
  return [
    { call: `GET ${all}`, ...reads, answer: [200, listOf(label)], needs: ['label'] },
    { call: `GET ${all}/:label_id`, ...reads, answer: [200, label], needs: ['label'] },
    { call: `POST ${all}`, ...writes, answer: [201, label], send: { name: 'new', color: '#ff0000' } },
    { call: `PUT ${all}/:label_id`, ...writes, answer: [200, label], send: { color: '#ff0000' } },
    { call: `PUT ${all}`, ...writes, answer: [200, label], send: { name: 'blue', color: '#ff0000' } },
    { call: `DELETE ${all}/:label_id`, ...writes, answer: [204] },
    { call: `DELETE ${all}`, ...writes, answer: [204], send: { name: 'blue' } },
  ]
})

const notFound: Answer = { status: 404, body: { message: '404 Not found' } }
const scopeAll = { scope: 'all' }

const issueRows: readonly MatrixRow[] = [
  {
    call: 'GET /issues',
    spec: 'platform',
    may: 'signed in',
    answer: [200, listOf(issue)],
    send: scopeAll,
    mayBeEmpty: true,
  },
  {
    call: 'GET /groups/:id/issues',
    spec: 'platform',
    may: { group: 10 },
    ...everyone,
    answer: [200, listOf(issue)],
    needs: ['milestone contents'],
  },
  {
    call: 'GET /projects/:id/issues',
    spec: 'platform',
    may: { project: 10 },
    ...everyone,
    answer: [200, listOf(issue)],
    needs: ['issue'],
  },
  {
    call: 'GET /projects/:id/issues/:issue_iid',
    spec: 'platform',
    may: { project: 10 },
    ...everyone,
    answer: [200, issue],
    needs: ['issue'],
  },
  {
    call: 'GET /projects/:id/issues/:issue_iid : confidential',
    spec: 'rest-part2-details 1.5, 8.8; platform',
    may: { project: 15 },
    visitors: 'anyone',
    answer: [200, issue],
    needs: ['confidential issue'],
    // Whoever sees the project and not the issue hears that there is none.
    except: {
      'one role below': notFound,
      'stranger, internal': notFound,
      'stranger, public': notFound,
      'bot of another project, public': notFound,
      'anonymous, public': notFound,
    },
  },
  {
    call: 'POST /projects/:id/issues',
    spec: 'platform',
    may: { project: 10 },
    visitors: 'signed in',
    answer: [201, issue],
    send: { title: 'New' },
  },
  {
    call: 'PUT /projects/:id/issues/:issue_iid',
    spec: 'platform',
    may: { project: 15 },
    answer: [200, issue],
    needs: ['issue'],
    send: { title: 'Other' },
  },
  {
    call: 'PUT /projects/:id/issues/:issue_iid : of the caller',
    spec: 'platform',
    may: { project: 10 },
    visitors: 'signed in',
    answer: [200, issue],
    needs: ['own issue'],
    send: { title: 'Other' },
  },
  {
    call: 'DELETE /projects/:id/issues/:issue_iid',
    spec: 'platform',
    may: { project: 50 },
    answer: [204],
    needs: ['issue'],
  },
]

/** rest-part2-details 2.6 says which of them take a job's token, 9.2 who may change one. */
const mergeRequestRows: readonly MatrixRow[] = [
  {
    call: 'GET /merge_requests',
    spec: 'platform',
    may: 'signed in',
    answer: [200, listOf(mergeRequest)],
    send: scopeAll,
    mayBeEmpty: true,
  },
  {
    call: 'GET /groups/:id/merge_requests',
    spec: 'platform',
    may: { group: 10 },
    ...everyone,
    answer: [200, listOf(mergeRequest)],
    needs: ['milestone contents'],
    mayBeEmpty: true,
  },
  {
    call: 'GET /projects/:id/merge_requests',
    spec: 'rest-part2-details 2.6, 9.1; platform',
    may: { project: 20 },
    ...everyone,
    answer: [200, listOf(mergeRequest)],
    needs: ['merge request'],
    job: true,
  },
  {
    call: 'GET /projects/:id/merge_requests/:merge_request_iid',
    spec: 'rest-part2-details 2.6, 9.1; platform',
    may: { project: 20 },
    ...everyone,
    answer: [200, mergeRequest],
    needs: ['merge request'],
    job: true,
  },
  {
    call: 'POST /projects/:id/merge_requests',
    spec: 'platform',
    may: { project: 30 },
    answer: [201, mergeRequest],
    needs: ['branch'],
    send: { title: 'Seeds', source_branch: 'seeds', target_branch: 'main' },
  },
  {
    call: 'PUT /projects/:id/merge_requests/:merge_request_iid',
    spec: 'rest-part2-details 9.2',
    may: { project: 30 },
    answer: [200, mergeRequest],
    needs: ['merge request'],
    send: { title: 'Other' },
  },
  {
    call: 'PUT /projects/:id/merge_requests/:merge_request_iid : of the caller',
    spec: 'rest-part2-details 9.2',
    may: { project: 20 },
    visitors: 'signed in',
    answer: [200, mergeRequest],
    needs: ['own merge request'],
    send: { title: 'Other' },
  },
  {
    call: 'DELETE /projects/:id/merge_requests/:merge_request_iid',
    spec: 'platform',
    may: { project: 50 },
    answer: [204],
    needs: ['merge request'],
  },
]

/** design.md 6. Of a project a Maintainer's business, of a group an Owner's. */
const variableRows = kinds.flatMap((kind): MatrixRow[] => {
  const all = `/${kind}s/:id/variables`
  const given = { spec: 'design.md 6; platform', may: leastOf(kind, kind === 'project' ? 40 : 50) } as const
  const needs = ['variable'] as const
  return [
    { call: `GET ${all}`, ...given, answer: [200, listOf(variable)], needs },
    { call: `GET ${all}/:key`, ...given, answer: [200, variable], needs },
    { call: `POST ${all}`, ...given, answer: [201, variable], send: { key: 'NEW', value: 'x' } },
    { call: `PUT ${all}/:key`, ...given, answer: [200, variable], needs, send: { value: 'y' } },
    { call: `DELETE ${all}/:key`, ...given, answer: [204], needs },
  ]
})

export const workRows: readonly MatrixRow[] = [
  ...milestoneRows,
  ...labelRows,
  ...issueRows,
  ...mergeRequestRows,
  ...variableRows,
]
