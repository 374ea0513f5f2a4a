import { createMergeRequest } from '@penstock/core'
import { byAuthor, tracking } from '../http-matrix-issuables.ts'
import { withBranch } from '../http-matrix-repository-things.ts'
import { basicUser, listOf, mergeRequest } from '../http-matrix-shapes.ts'
import type { Maker, MatrixArea } from '../matrix-area.ts'

const everyone = { visitors: 'anyone' } as const

const createdMergeRequest: Maker = async ({ server, parent }) => {
  const { world, root } = server
  await withBranch(server, parent!)
  const draft = { project: parent!.id, title: 'Seeds', sourceBranch: 'seeds', targetBranch: 'main' }
  const { iid } = await world.perform(root, createMergeRequest, draft)
  return { merge_request_iid: iid }
}
const mergeRequests = byAuthor('merge_requests', createdMergeRequest)

export const area: MatrixArea = {
  access: {
    read_merge_request: {
      rule: 'anonymous callers in public projects; Reporters and higher in private ones',
      project: '---nnyyyyyy -yyyyyyyyyy yyyyyyyyyyy',
    },
    create_merge_request: {
      rule: 'Developers and higher',
      project: '---nnnnyyyy -nnnnnnyyyy nnnnnnnyyyy',
    },
    update_merge_request: {
      rule: 'Developers and higher',
      project: '---nnnnyyyy -nnnnnnyyyy nnnnnnnyyyy',
    },
    update_own_merge_request: {
      rule: 'authors and assignees who may read the merge request',
      project: '---nnyyyyyy -yyyyyyyyyy nyyyyyyyyyy',
    },
    remove_merge_request: {
      rule: 'Owners',
      project: '---nnnnnnyy -nnnnnnnnyy nnnnnnnnnyy',
    },
    subscribe_merge_request: {
      rule: 'everyone who may read merge requests and is signed in',
      project: '---nnyyyyyy -yyyyyyyyyy nyyyyyyyyyy',
    },
  },

  rows: [
    {
      call: 'GET /merge_requests',
      may: 'signed in',
      answer: [200, listOf(mergeRequest)],
      send: { scope: 'all' },
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
    ...tracking('/projects/:id/merge_requests/:merge_request_iid', 'merge request', mergeRequest, 20, 30),
    {
      call: 'GET /projects/:id/merge_requests/:merge_request_iid/reviewers',
      may: { project: 20 },
      ...everyone,
      answer: [200, listOf({ exactly: { user: basicUser, state: 'text', created_at: 'time?' } })],
      needs: ['merge request'],
      mayBeEmpty: true,
    },
  ],

  things: {
    'merge request': createdMergeRequest,
    'own merge request': mergeRequests.own,
    'merge request of another': mergeRequests.ofAnother,
  },
}
