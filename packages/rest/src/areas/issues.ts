import {
  createIssue,
  type DescribedIssue,
  getProjectIssue,
  listGroupIssues,
  listIssues,
  listProjectIssues,
  removeIssue,
  updateIssue,
} from '@penstock/core'
import { z } from 'zod'
import { type Area, type JsonContext, route, type Shape } from '../routing/route.ts'
import { changedIssue, issueList, newIssue, projectIssueList } from './parameters/issues.ts'
import { issuableJson, issuableSchema } from './shapes/issuable-shape.ts'

const same = issuableSchema

/** An issue, with its fields in the order of GitLab's API. */
export const issueShape = {
  schema: z
    .object({
      id: same.id,
      iid: same.iid,
      project_id: same.project_id,
      title: same.title,
      description: same.description,
      state: z.enum(['opened', 'closed']),
      created_at: same.created_at,
      updated_at: same.updated_at,
      closed_at: same.closed_at,
      closed_by: same.closed_by,
      labels: same.labels,
      milestone: same.milestone,
      assignees: same.assignees,
      author: same.author,
      type: z.literal('ISSUE'),
      assignee: same.assignee,
      user_notes_count: same.user_notes_count,
      merge_requests_count: z.int(),
      upvotes: same.upvotes,
      downvotes: same.downvotes,
      due_date: z.string().nullable(),
      confidential: z.boolean(),
      discussion_locked: same.discussion_locked,
      issue_type: z.literal('issue'),
      web_url: same.web_url,
      time_stats: same.time_stats,
      task_completion_status: same.task_completion_status,
      weight: z.int().nullable(),
      blocking_issues_count: z.int(),
    })
    .meta({ id: 'Issue' }),
  of: (issue: DescribedIssue, context: JsonContext) => {
    const json = issuableJson(issue, 'issues', context)
    return {
      id: json.id,
      iid: json.iid,
      project_id: json.project_id,
      title: json.title,
      description: json.description,
      state: issue.state,
      created_at: json.created_at,
      updated_at: json.updated_at,
      closed_at: json.closed_at,
      closed_by: json.closed_by,
      labels: json.labels,
      milestone: json.milestone,
      assignees: json.assignees,
      author: json.author,
      type: 'ISSUE',
      assignee: json.assignee,
      user_notes_count: json.user_notes_count,
      merge_requests_count: 0,
      upvotes: json.upvotes,
      downvotes: json.downvotes,
      due_date: issue.dueDate ?? null,
      confidential: issue.isConfidential,
      discussion_locked: json.discussion_locked,
      issue_type: 'issue',
      web_url: json.web_url,
      time_stats: json.time_stats,
      task_completion_status: json.task_completion_status,
      weight: issue.weight ?? null,
      blocking_issues_count: 0,
    }
  },
} satisfies Shape<DescribedIssue>

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
  ],
}
