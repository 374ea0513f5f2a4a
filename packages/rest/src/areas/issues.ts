import {
  createIssue,
  getIssueById,
  getProjectIssue,
  issueTracking,
  listClosingMergeRequests,
  listGroupIssues,
  listIssues,
  listProjectIssues,
  listRelatedMergeRequests,
  moveIssue,
  removeIssue,
  updateIssue,
} from '@penstock/core'
import { type Area, route } from '../routing/route.ts'
import { issueStatisticsRoutes } from './issue-statistics.ts'
import { changedIssue, issueList, newIssue, projectIssueList } from './parameters/issues.ts'
import { orderedList } from './parameters/lists.ts'
import { issueShape } from './shapes/issue-shape.ts'
import { mergeRequestShape } from './shapes/merge-request-shape.ts'
import { trackingRoutes } from './tracking-routes.ts'

const inProject = { project: 'id' }
const list = '/projects/:id/issues'
const one = `${list}/:issue_iid`

export const issuesArea: Area = {
  tag: 'Issues',
  routes: [
    route({
      method: 'GET',
      path: '/issues',
      operation: listIssues,
      parameters: issueList,
      shape: issueShape,
      summary: 'List issues of all projects, by default those that the caller created.',
    }),
    route({
      method: 'GET',
      path: '/issues/:id',
      operation: getIssueById,
      shape: issueShape,
      summary: 'Get an issue of any project by its id. For administrators.',
    }),
    route({
      method: 'GET',
      path: '/groups/:id/issues',
      operation: listGroupIssues,
      parameters: issueList,
      names: { group: 'id' },
      shape: issueShape,
      summary: 'List the issues of the projects in a group and its subgroups.',
    }),
    route({
      method: 'GET',
      path: list,
      operation: listProjectIssues,
      parameters: projectIssueList,
      names: inProject,
      shape: issueShape,
      summary: 'List the issues of a project.',
    }),
    route({
      method: 'GET',
      path: one,
      operation: getProjectIssue,
      names: inProject,
      shape: issueShape,
      summary: 'Get an issue of a project.',
    }),
    route({
      method: 'POST',
      path: list,
      operation: createIssue,
      parameters: newIssue,
      names: inProject,
      shape: issueShape,
      summary: 'Create an issue.',
    }),
    route({
      method: 'PUT',
      path: one,
      operation: updateIssue,
      parameters: changedIssue,
      names: inProject,
      shape: issueShape,
      summary: 'Update, close or reopen an issue.',
    }),
    route({
      method: 'DELETE',
      path: one,
      operation: removeIssue,
      names: inProject,
      summary: 'Delete an issue.',
    }),
    route({
      method: 'POST',
      path: `${one}/move`,
      operation: moveIssue,
      names: { ...inProject, toProject: 'to_project_id' },
      shape: issueShape,
      summary: 'Move an issue to another project.',
    }),
    ...trackingRoutes({ noun: 'issue', one, operations: issueTracking, shape: issueShape }),
    route({
      method: 'GET',
      path: `${one}/closed_by`,
      operation: listClosingMergeRequests,
      parameters: orderedList,
      names: inProject,
      shape: mergeRequestShape,
      summary: 'List the merge requests that close an issue when they are merged.',
    }),
    route({
      method: 'GET',
      path: `${one}/related_merge_requests`,
      operation: listRelatedMergeRequests,
      parameters: orderedList,
      names: inProject,
      shape: mergeRequestShape,
      summary: 'List the merge requests that mention an issue.',
    }),
    ...issueStatisticsRoutes,
  ],
}
