import { createIssue, createMergeRequest, updateMergeRequest } from '@penstock/core'
import { withBranch } from '../http-matrix-repository-things.ts'
import type { MatrixRow } from '../http-matrix-row.ts'
import { issue, listOf, mergeRequest } from '../http-matrix-shapes.ts'
import type { MatrixArea, ThingContext } from '../matrix-area.ts'

const needs = ['closing merge request']
const ofIssue = (path: string): MatrixRow => ({
  call: `GET /projects/:id/issues/:issue_iid/${path}`,
  may: { project: 10 },
  visitors: 'anyone',
  answer: [200, listOf(mergeRequest)],
  // Guests of a private project see the issue, and none of its merge requests.
  mayBeEmpty: true,
  needs,
})
const ofMergeRequest = (path: string): MatrixRow => ({
  call: `GET /projects/:id/merge_requests/:merge_request_iid/${path}`,
  may: { project: 20 },
  visitors: 'anyone',
  answer: [200, listOf(issue)],
  needs,
})

export const area: MatrixArea = {
  access: {},
  rows: [
    ofIssue('closed_by'),
    ofIssue('related_merge_requests'),
    ofMergeRequest('closes_issues'),
    ofMergeRequest('related_issues'),
  ],
  things: { 'closing merge request': closingMergeRequest },
}

async function closingMergeRequest({ server, parent }: ThingContext) {
  const { world, root } = server
  const project = parent!.id
  await withBranch(server, parent!, 'closing')
  const { iid } = await world.perform(root, createIssue, { project, title: 'Leak' })
  const draft = { project, title: `Closes #${iid}`, sourceBranch: 'closing', targetBranch: 'main' }
  const { iid: mergeRequestIid } = await world.perform(root, createMergeRequest, draft)
  // Another one can then be opened for the same branches.
  await world.perform(root, updateMergeRequest, { project, mergeRequestIid, stateEvent: 'close' })
  return { issue_iid: iid, merge_request_iid: mergeRequestIid }
}
