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

/** Milestones, with the same routes for groups and projects. */
const milestoneRows = kinds.flatMap((kind): MatrixRow[] => {
  const all = `/${kind}s/:id/milestones`
  const one = `${all}/:milestone_id`
  const shape = kind === 'group' ? groupMilestone : projectMilestone
  const reads = { may: leastOf(kind, 10), visitors: 'signed in' } as const
  const needs = ['milestone'] as const
  const contents = ['milestone contents'] as const
  return [
    { call: `GET ${all}`, ...reads, answer: [200, listOf(shape)], needs },
    { call: `GET ${one}`, ...reads, answer: [200, shape], needs },
    { call: `GET ${one}/issues`, ...reads, answer: [200, listOf(issue)], needs: contents },
    // Guests cannot see merge requests of private projects.
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
      may: leastOf(kind, 15),
      answer: [201, shape],
      send: { title: 'Autumn' },
    },
    {
      call: `PUT ${one}`,
      may: leastOf(kind, 15),
      answer: [200, shape],
      needs,
      send: { state_event: 'close' },
    },
    {
      call: `DELETE ${one}`,
      may: leastOf(kind, 30),
      answer: [204],
      needs,
    },
  ]
})

const labelRows = kinds.flatMap((kind): MatrixRow[] => {
  const all = `/${kind}s/:id/labels`
  const reads = { may: leastOf(kind, 10), ...everyone } as const
  const writes = { may: leastOf(kind, 15), needs: ['label'] } as const
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
    may: 'signed in',
    answer: [200, listOf(issue)],
    send: scopeAll,
    mayBeEmpty: true,
  },
  {
    call: 'GET /groups/:id/issues',
    may: { group: 10 },
    ...everyone,
    answer: [200, listOf(issue)],
    needs: ['milestone contents'],
  },
  {
    call: 'GET /projects/:id/issues',
    may: { project: 10 },
    ...everyone,
    answer: [200, listOf(issue)],
    needs: ['issue'],
  },
  {
    call: 'GET /projects/:id/issues/:issue_iid',
    may: { project: 10 },
    ...everyone,
    answer: [200, issue],
    needs: ['issue'],
  },
  {
    call: 'GET /projects/:id/issues/:issue_iid : confidential',
    may: { project: 15 },
    visitors: 'anyone',
    answer: [200, issue],
    needs: ['confidential issue'],
    // Callers who can see the project but not the issue are answered as if it did not exist.
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
    may: { project: 10 },
    visitors: 'signed in',
    answer: [201, issue],
    send: { title: 'New' },
  },
  {
    call: 'PUT /projects/:id/issues/:issue_iid',
    may: { project: 15 },
    answer: [200, issue],
    needs: ['issue'],
    send: { title: 'Other' },
  },
  {
    call: 'PUT /projects/:id/issues/:issue_iid : of the caller',
    may: { project: 10 },
    visitors: 'signed in',
    answer: [200, issue],
    needs: ['own issue'],
    send: { title: 'Other' },
  },
  {
    call: 'DELETE /projects/:id/issues/:issue_iid',
    may: { project: 50 },
    answer: [204],
    needs: ['issue'],
  },
]

const mergeRequestRows: readonly MatrixRow[] = [
  {
    call: 'GET /merge_requests',
    may: 'signed in',
    answer: [200, listOf(mergeRequest)],
    send: scopeAll,
    mayBeEmpty: true,
  },
  {
    call: 'GET /groups/:id/merge_requests',
    may: { group: 10 },
    ...everyone,
    answer: [200, listOf(mergeRequest)],
    needs: ['milestone contents'],
    mayBeEmpty: true,
  },
  {
    call: 'GET /projects/:id/merge_requests',
    may: { project: 20 },
    ...everyone,
    answer: [200, listOf(mergeRequest)],
    needs: ['merge request'],
    job: true,
  },
  {
    call: 'GET /projects/:id/merge_requests/:merge_request_iid',
    may: { project: 20 },
    ...everyone,
    answer: [200, mergeRequest],
    needs: ['merge request'],
    job: true,
  },
  {
    call: 'POST /projects/:id/merge_requests',
    may: { project: 30 },
    answer: [201, mergeRequest],
    needs: ['branch'],
    send: { title: 'Seeds', source_branch: 'seeds', target_branch: 'main' },
  },
  {
    call: 'PUT /projects/:id/merge_requests/:merge_request_iid',
    may: { project: 30 },
    answer: [200, mergeRequest],
    needs: ['merge request'],
    send: { title: 'Other' },
  },
  {
    call: 'PUT /projects/:id/merge_requests/:merge_request_iid : of the caller',
    may: { project: 20 },
    visitors: 'signed in',
    answer: [200, mergeRequest],
    needs: ['own merge request'],
    send: { title: 'Other' },
  },
  {
    call: 'DELETE /projects/:id/merge_requests/:merge_request_iid',
    may: { project: 50 },
    answer: [204],
    needs: ['merge request'],
  },
]

/** Maintainers manage the variables of a project, Owners those of a group. */
const variableRows = kinds.flatMap((kind): MatrixRow[] => {
  const all = `/${kind}s/:id/variables`
  const access = { may: leastOf(kind, kind === 'project' ? 40 : 50) } as const
  const needs = ['variable'] as const
  return [
    { call: `GET ${all}`, ...access, answer: [200, listOf(variable)], needs },
    { call: `GET ${all}/:key`, ...access, answer: [200, variable], needs },
    { call: `POST ${all}`, ...access, answer: [201, variable], send: { key: 'NEW', value: 'x' } },
    { call: `PUT ${all}/:key`, ...access, answer: [200, variable], needs, send: { value: 'y' } },
    { call: `DELETE ${all}/:key`, ...access, answer: [204], needs },
  ]
})

export const workRows: readonly MatrixRow[] = [
  ...milestoneRows,
  ...labelRows,
  ...issueRows,
  ...mergeRequestRows,
  ...variableRows,
]
