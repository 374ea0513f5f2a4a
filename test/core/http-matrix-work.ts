import type { Answer, MatrixRow } from './http-matrix-row.ts'
import { issue, listOf, mergeRequest } from './http-matrix-shapes.ts'

const everyone = { visitors: 'anyone' } as const

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

export const workRows: readonly MatrixRow[] = [...issueRows, ...mergeRequestRows]
