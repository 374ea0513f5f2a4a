import {
  cancelAutoMerge,
  createMergeRequest,
  getProjectMergeRequest,
  listClosedIssues,
  listGroupMergeRequests,
  listMergeRequestReviewers,
  listMergeRequests,
  listProjectMergeRequests,
  listRelatedIssues,
  mergeMergeRequest,
  mergeRequestTracking,
  removeMergeRequest,
  updateMergeRequest,
} from '@penstock/core'
import { type Area, route } from '../routing/route.ts'
import { changedMergeRequest, mergeRequestList, newMergeRequest, projectMergeRequestList } from './parameters/issues.ts'
import { orderedList, pageOfAll } from './parameters/lists.ts'
import { issueShape } from './shapes/issue-shape.ts'
import {
  mergeRequestShape,
  reviewerShape,
  shownMergeRequestShape,
  withRequestedMembers,
  withView,
} from './shapes/merge-request-shape.ts'
import { trackingRoutes } from './tracking-routes.ts'

const inProject = { project: 'id' }
const list = '/projects/:id/merge_requests'
const one = `${list}/:merge_request_iid`

export const mergeRequestsArea: Area = {
  tag: 'Merge requests',
  routes: [
    route({
      method: 'GET',
      path: '/merge_requests',
      operation: withView(listMergeRequests),
      parameters: mergeRequestList,
      shape: mergeRequestShape,
      summary: 'List merge requests of all projects, by default those that the caller created.',
    }),
    route({
      method: 'GET',
      path: '/groups/:id/merge_requests',
      operation: withView(listGroupMergeRequests),
      parameters: mergeRequestList,
      names: { group: 'id' },
      shape: mergeRequestShape,
      summary: 'List the merge requests of the projects in a group and its subgroups.',
    }),
    route({
      method: 'GET',
      path: list,
      operation: withView(listProjectMergeRequests),
      parameters: projectMergeRequestList,
      names: inProject,
      shape: mergeRequestShape,
      takesJobTokens: true,
      summary: 'List the merge requests of a project.',
    }),
    route({
      method: 'GET',
      path: one,
      operation: withRequestedMembers(getProjectMergeRequest),
      names: inProject,
      shape: shownMergeRequestShape,
      takesJobTokens: true,
      summary: 'Get a merge request of a project.',
    }),
    route({
      method: 'POST',
      path: list,
      operation: createMergeRequest,
      parameters: newMergeRequest,
      names: inProject,
      shape: shownMergeRequestShape,
      summary: 'Create a merge request.',
    }),
    route({
      method: 'PUT',
      path: one,
      operation: updateMergeRequest,
      parameters: changedMergeRequest,
      names: inProject,
      shape: shownMergeRequestShape,
      summary: 'Update, close or reopen a merge request.',
    }),
    route({
      method: 'DELETE',
      path: one,
      operation: removeMergeRequest,
      names: inProject,
      summary: 'Delete a merge request.',
    }),
    route({
      method: 'PUT',
      path: `${one}/merge`,
      operation: mergeMergeRequest,
      names: inProject,
      shape: shownMergeRequestShape,
      summary: 'Merge a merge request, as the merge method of the project says, now or when its pipeline succeeds.',
    }),
    route({
      method: 'POST',
      path: `${one}/cancel_merge_when_pipeline_succeeds`,
      operation: cancelAutoMerge,
      names: inProject,
      shape: shownMergeRequestShape,
      summary: 'Cancel the automatic merge of a merge request.',
    }),
    route({
      method: 'GET',
      path: `${one}/reviewers`,
      operation: listMergeRequestReviewers,
      parameters: pageOfAll,
      names: inProject,
      shape: reviewerShape,
      isList: true,
      summary: 'List the reviewers of a merge request.',
    }),
    route({
      method: 'GET',
      path: `${one}/closes_issues`,
      operation: listClosedIssues,
      parameters: orderedList,
      names: inProject,
      shape: issueShape,
      summary: 'List the issues that a merge request closes when it is merged.',
    }),
    route({
      method: 'GET',
      path: `${one}/related_issues`,
      operation: listRelatedIssues,
      parameters: orderedList,
      names: inProject,
      shape: issueShape,
      summary: 'List the issues that a merge request mentions.',
    }),
    ...trackingRoutes({
      noun: 'merge request',
      one,
      operations: mergeRequestTracking,
      shape: shownMergeRequestShape,
    }),
  ],
}
