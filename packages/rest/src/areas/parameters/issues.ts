import type { RouteParameters } from '../../routing/route.ts'
import { cursorList, pagedList } from './lists.ts'

const noApprovers = 'everyone who may approve is an approver; there are no rules that name approvers'
const noDeployments = 'merge requests are not joined with deployments'
const noDiscussions = 'there are no discussions to resolve'
const noEpics = 'there are no epics'
const noIterations = 'there are no iterations'

const noNegatedSearch = { 'not[search]': 'a search is not negated', 'not[in]': 'a search is not negated' }

const absentInIssueLists = {
  epic_id: noEpics,
  health_status: 'issues have no health status',
  iteration_id: noIterations,
  iteration_title: noIterations,
  'not[epic_id]': noEpics,
  'not[iteration_id]': noIterations,
  'not[iteration_title]': noIterations,
  ...noNegatedSearch,
}

export const issueList = { noEffect: pagedList.noEffect, refused: absentInIssueLists } satisfies RouteParameters
/** The parameters of issue counts, which have no order and show no items. */
export const issueStatistics = { refused: absentInIssueLists } satisfies RouteParameters

const oneProject = 'the list belongs to one project'

export const projectIssueList = {
  noEffect: { ...cursorList.noEffect, non_archived: oneProject },
  refused: absentInIssueLists,
} satisfies RouteParameters

export const changedIssue = { refused: { epic_id: noEpics, epic_iid: noEpics } } satisfies RouteParameters
export const newIssue = {
  refused: {
    ...changedIssue.refused,
    discussion_to_resolve: noDiscussions,
    merge_request_to_resolve_discussions_of: noDiscussions,
  },
} satisfies RouteParameters

export const mergeRequestList = {
  noEffect: pagedList.noEffect,
  refused: {
    approved: '`approved_by_ids` takes `Any` and `None`',
    approver_ids: noApprovers,
    deployed_after: noDeployments,
    deployed_before: noDeployments,
    environment: noDeployments,
    ...noNegatedSearch,
  },
} satisfies RouteParameters

export const projectMergeRequestList = {
  noEffect: { ...mergeRequestList.noEffect, non_archived: oneProject },
  refused: mergeRequestList.refused,
} satisfies RouteParameters

const sameProject = 'both branches are in one project; its members may push to them'

export const changedMergeRequest = {
  noEffect: {
    allow_collaboration: sameProject,
    allow_maintainer_to_push: sameProject,
    squash_on_merge: 'a field of the answer, which `squash` sets',
  },
  refused: { approvals_before_merge: 'a setting of the project' },
} satisfies RouteParameters

export const newMergeRequest = {
  noEffect: {
    allow_collaboration: sameProject,
    allow_maintainer_to_push: sameProject,
    commits: 'a field of the answer that gitbeaker lets callers send',
  },
  refused: changedMergeRequest.refused,
} satisfies RouteParameters

export const approve = {
  refused: { approval_password: 'a password is not asked for' },
} satisfies RouteParameters
