import { z } from 'zod'
import { type Page, pageInput } from '../../base/kit/page.ts'
import { namespaceRef } from '../../base/kit/parameter-schemas.ts'
import { query } from '../../base/operations/operation.ts'
import { pageOfArray } from '../../code/repositories/commit-operations.ts'
import type { DescribedIssue } from '../issues/issue.ts'
import { getIssue, oneIssue, subject } from '../issues/issue-changes.ts'
import { pageOfIssues } from '../issues/issue-list-store.ts'
import { getMergeRequest } from './merge-request-changes.ts'
import { pageOfMergeRequests } from './merge-request-list-store.ts'

const ofIssue = {
  caller: 'anyone',
  input: z.object({ ...oneIssue, ...pageInput }),
  permission: 'read_issue',
  subject,
} as const
const ofMergeRequest = {
  caller: 'anyone',
  input: z.object({ project: namespaceRef, mergeRequestIid: z.int(), ...pageInput }),
  permission: 'read_merge_request',
  subject,
} as const

/** Lists the merge requests of the project that close an issue when they are merged into the default branch. */
export const listClosingMergeRequests = query(
  { name: 'listClosingMergeRequests', ...ofIssue },
  async (context, { issueIid, ...page }) => {
    const { id } = await getIssue(context, context.actor, context.subject, issueIid)
    const filter = { within: { projectId: context.subject.id }, closesIssueId: id }
    return pageOfMergeRequests(context, context.actor, filter, page)
  },
)

/** Lists the merge requests of all projects that mention an issue. */
export const listRelatedMergeRequests = query(
  { name: 'listRelatedMergeRequests', ...ofIssue },
  async (context, { issueIid, ...page }) => {
    const { id } = await getIssue(context, context.actor, context.subject, issueIid)
    return pageOfMergeRequests(context, context.actor, { mentionsIssueId: id, sort: 'asc' }, page)
  },
)

/** Lists the issues that a merge request closes: none, unless its target is the default branch. */
export const listClosedIssues = query(
  { name: 'listClosedIssues', ...ofMergeRequest },
  async (context, { mergeRequestIid, ...page }): Promise<Page<DescribedIssue>> => {
    const { id, targetBranch } = await getMergeRequest(context, context.actor, context.subject, mergeRequestIid)
    if (targetBranch !== context.subject.defaultBranch) return pageOfArray([], page)
    return pageOfIssues(context, context.actor, { mentionedBy: { id, onlyClosing: true }, sort: 'asc' }, page)
  },
)

/** Lists the issues that a merge request mentions. */
export const listRelatedIssues = query(
  { name: 'listRelatedIssues', ...ofMergeRequest },
  async (context, { mergeRequestIid, ...page }) => {
    const { id } = await getMergeRequest(context, context.actor, context.subject, mergeRequestIid)
    return pageOfIssues(context, context.actor, { mentionedBy: { id }, sort: 'asc' }, page)
  },
)
