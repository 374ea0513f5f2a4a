import {
  type Changes,
  type DescribedMergeRequest,
  detailedMergeStatus,
  mergeStatus,
  type ProjectFacts,
  type User,
  type WithLabels,
} from '@penstock/core'
import { changesJson, type NamedThings, stateId } from './changed-values.ts'
import { timeChange, timesJson } from './issue.ts'
import {
  hookTime,
  hookTimeOrNull,
  type Json,
  labelJson,
  projectJson,
  repositoryJson,
  userJson,
  withImageUrls,
} from './shared-objects.ts'

export type MergeRequestAction =
  | 'open'
  | 'close'
  | 'reopen'
  | 'update'
  | 'approval'
  | 'approved'
  | 'unapproval'
  | 'unapproved'
  | 'merge'

export interface MergeRequestFacts {
  readonly facts: ProjectFacts
  readonly user: User | undefined
  readonly mergeRequest: WithLabels<DescribedMergeRequest>
  readonly headPipelineId: number | undefined
  readonly action: MergeRequestAction
  readonly atMs: number
  /** The former head of the source branch, if the event is a push to it. */
  readonly formerSha?: string | undefined
  /** The reviewer who is asked for another review. */
  readonly reRequestedId?: number | undefined
  readonly changes: Changes
  readonly things: NamedThings
}

/** Returns the payload. The last commit is added when it is sent. */
export function mergeRequestPayload(event: MergeRequestFacts, externalUrl: string): Json {
  const { facts, user, mergeRequest, action, atMs, formerSha, changes, things } = event
  return {
    object_kind: 'merge_request',
    event_type: 'merge_request',
    user: userJson(user, externalUrl),
    project: projectJson(facts, externalUrl),
    object_attributes: {
      ...mergeRequestAttributes(event, externalUrl),
      ...timeChange(changes),
      action,
      actioned_at: hookTime(atMs),
      system: false,
      ...(formerSha !== undefined && { oldrev: formerSha }),
    },
    labels: mergeRequest.labelDetails.map(labelJson),
    changes: changesJson(changes, { ...things, reRequestedId: event.reRequestedId }, externalUrl),
    repository: repositoryJson(facts, externalUrl),
    assignees: mergeRequest.assignees.map((assignee) => userJson(assignee, externalUrl)),
    reviewers: mergeRequest.reviewers.map((reviewer) => ({
      ...userJson(reviewer, externalUrl),
      state: reviewer.reviewState,
      re_requested: reviewer.id === event.reRequestedId,
    })),
  }
}

/** Returns a merge request as its own events and those of its notes show it. */
export function mergeRequestAttributes(
  { facts, mergeRequest, headPipelineId }: Pick<MergeRequestFacts, 'facts' | 'mergeRequest' | 'headPipelineId'>,
  externalUrl: string,
): Json {
  const project = projectJson(facts, externalUrl)
  const { milestone, assignees, reviewers } = mergeRequest
  return {
    id: mergeRequest.id,
    iid: mergeRequest.iid,
    title: mergeRequest.title,
    description:
      mergeRequest.description === undefined
        ? null
        : withImageUrls(mergeRequest.description, mergeRequest.projectPath, externalUrl),
    state: mergeRequest.state,
    state_id: stateId(mergeRequest.state),
    author_id: mergeRequest.author?.id ?? null,
    assignee_id: assignees[0]?.id ?? null,
    assignee_ids: assignees.map(({ id }) => id),
    reviewer_ids: reviewers.map(({ id }) => id),
    source_branch: mergeRequest.sourceBranch,
    target_branch: mergeRequest.targetBranch,
    target_branch_protected: false,
    source_project_id: mergeRequest.projectId,
    target_project_id: mergeRequest.projectId,
    source: project,
    target: project,
    last_commit: mergeRequest.sha === undefined ? null : { id: mergeRequest.sha },
    labels: mergeRequest.labelDetails.map(labelJson),
    milestone_id: milestone?.id ?? null,
    head_pipeline_id: headPipelineId ?? null,
    merge_commit_sha: mergeRequest.mergeCommitSha ?? null,
    squash_commit_sha: mergeRequest.squashCommitSha ?? null,
    merged_at: hookTimeOrNull(mergeRequest.mergedAtMs),
    merge_error: null,
    merge_params: { force_remove_source_branch: mergeRequest.removesSourceBranch ? '1' : '0' },
    merge_status: mergeStatus(mergeRequest),
    detailed_merge_status: detailedMergeStatus(mergeRequest),
    merge_user_id: (mergeRequest.mergedBy ?? mergeRequest.autoMergeUser)?.id ?? null,
    merge_when_pipeline_succeeds: mergeRequest.autoMergeUser !== undefined,
    draft: mergeRequest.isDraft,
    work_in_progress: mergeRequest.isDraft,
    first_contribution: false,
    blocking_discussions_resolved: !mergeRequest.mergeConditions.hasBlockingDiscussions,
    prepared_at: hookTime(mergeRequest.createdAtMs),
    created_at: hookTime(mergeRequest.createdAtMs),
    updated_at: hookTime(mergeRequest.updatedAtMs),
    updated_by_id: null,
    last_edited_at: null,
    last_edited_by_id: null,
    ...timesJson(mergeRequest),
    url: `${externalUrl}/${mergeRequest.projectPath}/-/merge_requests/${mergeRequest.iid}`,
    approval_rules: [],
  }
}
