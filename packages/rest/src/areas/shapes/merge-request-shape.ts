import {
  detailedMergeStatus,
  detailedMergeStatuses,
  hasConflicts,
  type ListedMergeRequest,
  mergeRequestStates,
  mergeStatus,
  mergeStatuses,
  type Operation,
  type Reviewer,
  reviewStates,
  type ShownMergeRequest,
} from '@penstock/core'
import { z } from 'zod'
import { isoTime } from '../../routing/iso-time.ts'
import { inShortForm, type Listed, presented } from '../../routing/presented.ts'
import type { JsonContext, Shape } from '../../routing/route.ts'
import { basicUserShape } from './basic-user.ts'
import { escapedHtml } from './escaped-html.ts'
import { issuableJson, issuableSchema, userOrNull } from './issuable-shape.ts'
import { pipelineShape, pipelineSummaryShape } from './pipeline-shape.ts'

const same = issuableSchema

const fields = {
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
  imported: same.imported,
  imported_from: same.imported_from,
  work_in_progress: z.boolean(),
  milestone: same.milestone,
  merge_when_pipeline_succeeds: z.boolean(),
  merge_status: z.enum(mergeStatuses),
  detailed_merge_status: z.enum(detailedMergeStatuses),
  merge_after: z.string().nullable(),
  sha: z.string().nullable(),
  merge_commit_sha: z.string().nullable(),
  squash_commit_sha: z.string().nullable(),
  discussion_locked: same.discussion_locked,
  should_remove_source_branch: z.boolean().nullable(),
  force_remove_source_branch: z.boolean().nullable(),
  prepared_at: z.string().nullable(),
  reference: z.string(),
  references: same.references,
  web_url: same.web_url,
  time_stats: same.time_stats,
  squash: z.boolean(),
  squash_on_merge: z.boolean(),
  task_completion_status: same.task_completion_status,
  has_conflicts: z.boolean(),
  blocking_discussions_resolved: z.boolean(),
  allow_collaboration: z.boolean(),
  allow_maintainer_to_push: z.boolean(),
  approvals_before_merge: z.int().nullable(),
  has_tasks: same.has_tasks,
  task_status: same.task_status,
  /** Only if the request had `render_html`. */
  title_html: z.string().optional(),
  description_html: z.string().optional(),
}

function jsonOf(mergeRequest: ListedMergeRequest & RequestedMembers, context: JsonContext) {
  const json = issuableJson(mergeRequest, 'merge_requests', context)
  const mergedBy = userOrNull(mergeRequest.mergedBy, context)
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
    merge_user: mergedBy ?? userOrNull(mergeRequest.autoMergeUser, context),
    merged_at: isoTime(mergeRequest.mergedAtMs),
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
    imported: json.imported,
    imported_from: json.imported_from,
    work_in_progress: mergeRequest.isDraft,
    milestone: json.milestone,
    merge_when_pipeline_succeeds: mergeRequest.autoMergeUser !== undefined,
    merge_status: mergeStatus(mergeRequest),
    detailed_merge_status: detailedMergeStatus(mergeRequest),
    merge_after: null,
    sha: mergeRequest.sha ?? null,
    merge_commit_sha: mergeRequest.mergeCommitSha ?? null,
    squash_commit_sha: mergeRequest.squashCommitSha ?? null,
    discussion_locked: json.discussion_locked,
    should_remove_source_branch: null,
    force_remove_source_branch: mergeRequest.removesSourceBranch ?? null,
    prepared_at: json.created_at,
    reference: json.references.short,
    references: json.references,
    web_url: json.web_url,
    time_stats: json.time_stats,
    squash: mergeRequest.isSquashed,
    squash_on_merge: mergeRequest.isSquashed,
    task_completion_status: json.task_completion_status,
    has_conflicts: hasConflicts(mergeRequest),
    blocking_discussions_resolved: !mergeRequest.mergeConditions.hasBlockingDiscussions,
    // Pushes by maintainers of the target are a matter of forks, which do not exist here.
    allow_collaboration: false,
    allow_maintainer_to_push: false,
    approvals_before_merge: null,
    has_tasks: json.has_tasks,
    task_status: json.task_status,
    ...(mergeRequest.renderHtml && {
      title_html: escapedHtml(mergeRequest.title),
      description_html: escapedHtml(mergeRequest.description ?? ''),
    }),
  }
}

const schema = z.object(fields).meta({ id: 'MergeRequest' })

const { id, iid, project_id, title, description, state, created_at, updated_at, web_url } = fields
const simpleSchema = z
  .object({ id, iid, project_id, title, description, state, created_at, updated_at, web_url })
  .meta({ id: 'SimpleMergeRequest' })

/** Returns the operation with the parameter `view`, which is `simple` for the short form of each merge request. */
export const withView = <Input extends z.ZodRawShape, Result extends { readonly items: readonly ListedMergeRequest[] }>(
  operation: Operation<z.ZodObject<Input>, Result>,
) =>
  presented(operation, { view: z.enum(['simple']).optional() }, (page, { view }) =>
    view === 'simple' ? inShortForm(page) : page,
  )

/** A merge request in a list, with its fields in the order of GitLab's API. */
export const mergeRequestShape = {
  schema: z.union([schema, simpleSchema]),
  of: (mergeRequest: Listed<ListedMergeRequest>, context: JsonContext) => {
    const json = jsonOf(mergeRequest, context)
    if (!mergeRequest.isSimple) return json
    const { id, iid, project_id, title, description, state, created_at, updated_at, web_url } = json
    return { id, iid, project_id, title, description, state, created_at, updated_at, web_url }
  },
} satisfies Shape<Listed<ListedMergeRequest>>

/** Optional members of a merge request as a single resource. */
interface RequestedMembers {
  readonly renderHtml?: boolean
  readonly includeRebaseInProgress?: boolean
}

/** Returns the operation with parameters for optional members. */
export const withRequestedMembers = <Input extends z.ZodRawShape>(
  operation: Operation<z.ZodObject<Input>, ShownMergeRequest>,
) =>
  presented(
    operation,
    { renderHtml: z.boolean().default(false), includeRebaseInProgress: z.boolean().default(false) },
    (mergeRequest, requested): ShownMergeRequest & RequestedMembers => ({ ...mergeRequest, ...requested }),
  )

/** A merge request as a single resource, which has further fields. */
export const shownMergeRequestShape = {
  schema: z
    .object({
      ...fields,
      subscribed: z.boolean(),
      changes_count: z.string().nullable(),
      latest_build_started_at: z.string().nullable(),
      latest_build_finished_at: z.string().nullable(),
      first_deployed_to_production_at: z.string().nullable(),
      pipeline: pipelineSummaryShape.schema.nullable(),
      head_pipeline: pipelineShape.schema.nullable(),
      diff_refs: z.object({ base_sha: z.string().nullable(), head_sha: z.string(), start_sha: z.string() }).nullable(),
      merge_error: z.string().nullable(),
      rebase_in_progress: z.boolean().optional(),
      diverged_commits_count: z.int().nullable().optional(),
      first_contribution: z.boolean(),
      user: z.object({ can_merge: z.boolean() }),
    })
    .meta({ id: 'ShownMergeRequest' }),
  of: (mergeRequest: ShownMergeRequest & RequestedMembers, context: JsonContext) => {
    const { headPipeline: pipeline, diffRefs, divergedCommitsCount } = mergeRequest
    return {
      ...jsonOf(mergeRequest, context),
      subscribed: mergeRequest.isSubscribed,
      changes_count: mergeRequest.changesCount ?? null,
      latest_build_started_at: isoTime(pipeline?.startedAtMs),
      latest_build_finished_at: isoTime(pipeline?.finishedAtMs),
      first_deployed_to_production_at: null,
      pipeline: pipeline === undefined ? null : pipelineSummaryShape.of(pipeline, context),
      head_pipeline: pipeline === undefined ? null : pipelineShape.of(pipeline, context),
      diff_refs:
        diffRefs === undefined
          ? null
          : { base_sha: diffRefs.baseSha ?? null, head_sha: diffRefs.headSha, start_sha: diffRefs.startSha },
      merge_error: null,
      ...(mergeRequest.includeRebaseInProgress && { rebase_in_progress: false }),
      ...('divergedCommitsCount' in mergeRequest && { diverged_commits_count: divergedCommitsCount ?? null }),
      first_contribution: false,
      user: { can_merge: mergeRequest.canMerge },
    }
  },
} satisfies Shape<ShownMergeRequest & RequestedMembers>

/** A reviewer of a merge request. */
export const reviewerShape: Shape<Reviewer> = {
  schema: z
    .object({ user: basicUserShape.schema, state: z.enum(reviewStates), created_at: z.string().nullable() })
    .meta({ id: 'Reviewer' }),
  of: (reviewer, context) => ({
    user: basicUserShape.of(reviewer, context),
    state: reviewer.reviewState,
    created_at: isoTime(reviewer.requestedAtMs),
  }),
}
