import {
  createMergeRequest,
  getProjectMergeRequest,
  listGroupMergeRequests,
  listMergeRequests,
  listProjectMergeRequests,
  type MergeRequest,
  mergeRequestStates,
  removeMergeRequest,
  updateMergeRequest,
} from '@penstock/core'
import { z } from 'zod'
import { basicUserShape } from './basic-user.ts'
import { issuableJson, issuableSchema, timestamp, userOrNull } from './issuable-shape.ts'
import { type Area, type JsonContext, route, type Shape } from './route.ts'

const same = issuableSchema

/** @see spec/rest-part2-details.md 8.9 */
export const mergeRequestShape = {
  schema: z.object({
    id: same.id,
    iid: same.iid,
    project_id: same.project_id,
    title: same.title,
    description: same.description,
    state: z.enum(mergeRequestStates),
    created_at: same.created_at,
    updated_at: same.updated_at,
    merged_by: basicUserShape.schema.nullable(),
    merge_user: basicUserShape.schema.nullable(),
    merged_at: z.string().nullable(),
    closed_by: same.closed_by,
    closed_at: same.closed_at,
    target_branch: z.string(),
    source_branch: z.string(),
    user_notes_count: same.user_notes_count,
    upvotes: same.upvotes,
    downvotes: same.downvotes,
    author: same.author,
    assignees: same.assignees,
    assignee: same.assignee,
    reviewers: z.array(basicUserShape.schema),
    source_project_id: z.int(),
    target_project_id: z.int(),
    labels: same.labels,
    draft: z.boolean(),
    imported: z.boolean(),
    imported_from: z.string(),
    work_in_progress: z.boolean(),
    milestone: same.milestone,
    merge_when_pipeline_succeeds: z.boolean(),
    merge_status: z.string(),
    detailed_merge_status: z.string(),
    merge_after: z.string().nullable(),
    sha: z.string().nullable(),
    merge_commit_sha: z.string().nullable(),
    squash_commit_sha: z.string().nullable(),
    discussion_locked: same.discussion_locked,
    should_remove_source_branch: z.boolean().nullable(),
    force_remove_source_branch: z.boolean().nullable(),
    prepared_at: z.string().nullable(),
    reference: z.string(),
    references: z.object({ short: z.string(), relative: z.string(), full: z.string() }),
    web_url: same.web_url,
    time_stats: same.time_stats,
    squash: z.boolean(),
    squash_on_merge: z.boolean(),
    task_completion_status: same.task_completion_status,
    has_conflicts: z.boolean(),
    blocking_discussions_resolved: z.boolean(),
  }),
  of: (mergeRequest: MergeRequest, context: JsonContext) => {
    const json = issuableJson(mergeRequest, 'merge_requests', context)
    const mergedBy = userOrNull(mergeRequest.mergedBy, context)
    const reference = `!${mergeRequest.iid}`
    return {
      id: json.id,
      iid: json.iid,
      project_id: json.project_id,
      title: json.title,
      description: json.description,
      state: mergeRequest.state,
      created_at: json.created_at,
      updated_at: json.updated_at,
      merged_by: mergedBy,
      merge_user: mergedBy,
      merged_at: timestamp(mergeRequest.mergedAtMs),
      closed_by: json.closed_by,
      closed_at: json.closed_at,
      target_branch: mergeRequest.targetBranch,
      source_branch: mergeRequest.sourceBranch,
      user_notes_count: json.user_notes_count,
      upvotes: json.upvotes,
      downvotes: json.downvotes,
      author: json.author,
      assignees: json.assignees,
      assignee: json.assignee,
      reviewers: mergeRequest.reviewers.map((user) => basicUserShape.of(user, context)),
      source_project_id: mergeRequest.projectId,
      target_project_id: mergeRequest.projectId,
      labels: json.labels,
      draft: mergeRequest.isDraft,
      imported: false,
      imported_from: 'none',
      work_in_progress: mergeRequest.isDraft,
      milestone: json.milestone,
      merge_when_pipeline_succeeds: false,
      // Nothing looks into the branches before a merge.
      merge_status: 'unchecked',
      detailed_merge_status: mergeStatusOf(mergeRequest),
      merge_after: null,
      sha: mergeRequest.sha ?? null,
      merge_commit_sha: null,
      squash_commit_sha: null,
      discussion_locked: json.discussion_locked,
      should_remove_source_branch: null,
      force_remove_source_branch: mergeRequest.removesSourceBranch ?? null,
      prepared_at: json.created_at,
      reference,
      references: { short: reference, relative: reference, full: `${mergeRequest.projectPath}${reference}` },
      web_url: json.web_url,
      time_stats: json.time_stats,
      squash: mergeRequest.isSquashed,
      squash_on_merge: mergeRequest.isSquashed,
      task_completion_status: json.task_completion_status,
      has_conflicts: false,
      blocking_discussions_resolved: true,
    }
  },
} satisfies Shape<MergeRequest>

function mergeStatusOf({ state, isDraft }: MergeRequest): string {
  if (state !== 'opened') return 'not_open'
  return isDraft ? 'draft_status' : 'unchecked'
}

const inProject = { project: 'id' }
const list = '/projects/:id/merge_requests'
const one = `${list}/:merge_request_iid`

export const mergeRequestsArea: Area = {
  tag: 'Merge requests',
  routes: [
    route({
      method: 'GET',
      path: '/merge_requests',
      operation: listMergeRequests,
      shape: mergeRequestShape,
      summary: 'List merge requests of all projects, by default those that the caller created.',
    }),
    route({
      method: 'GET',
      path: '/groups/:id/merge_requests',
      operation: listGroupMergeRequests,
      names: { group: 'id' },
      shape: mergeRequestShape,
      summary: 'List the merge requests of the projects in a group and its subgroups.',
    }),
    route({
      method: 'GET',
      path: list,
      operation: listProjectMergeRequests,
      names: inProject,
      shape: mergeRequestShape,
      takesJobTokens: true,
      summary: 'List the merge requests of a project.',
    }),
    route({
      method: 'GET',
      path: one,
      operation: getProjectMergeRequest,
      names: inProject,
      shape: mergeRequestShape,
      takesJobTokens: true,
      summary: 'Get a merge request of a project.',
    }),
    route({
      method: 'POST',
      path: list,
      operation: createMergeRequest,
      names: inProject,
      shape: mergeRequestShape,
      summary: 'Create a merge request.',
    }),
    route({
      method: 'PUT',
      path: one,
      operation: updateMergeRequest,
      names: inProject,
      shape: mergeRequestShape,
      summary: 'Change, close or reopen a merge request.',
    }),
    route({
      method: 'DELETE',
      path: one,
      operation: removeMergeRequest,
      names: inProject,
      summary: 'Delete a merge request.',
    }),
  ],
}
