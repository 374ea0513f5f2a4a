import { type Expression, type RawBuilder, type SqlBool, sql } from 'kysely'
import { can } from '../../base/access/can.ts'
import { allowedInProject } from '../../base/access/visible-store.ts'
import { always, isOneOf, never } from '../../base/kit/conditions.ts'
import { emptyListing, type Listing, listingOf } from '../../base/kit/listing.ts'
import { orderedBy, type Page, type PageRequest, pageOf } from '../../base/kit/page.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import { settingsFrom } from '../../base/kit/stored-settings.ts'
import { projectSettings } from '../../base/model/project-settings.ts'
import type { Actor } from '../../base/model/user.ts'
import { newestHeadSha } from '../../code/repositories/merge-request-version-store.ts'
import {
  type Comparison,
  comparisonsOf,
  conditionsOf,
  peopleCondition,
  personCondition,
  standingWithin,
  subscriptionCondition,
} from '../issues/issuable-conditions.ts'
import { byColumn, type IssuableOrder, issuableOrderTable, lastTime, orderOf } from '../issues/issuable-order.ts'
import { issuablesOf, withDescriptions } from '../issues/issuable-store.ts'
import { mentionsIssue } from '../issues/mentioned-issues.ts'
import { reactionConditions } from '../issues/reaction-conditions.ts'
import { releaseConditions } from '../issues/release-conditions.ts'
import { mergeConditionsByRow } from './merge-conditions.ts'
import type { DescribedMergeRequest, MergeRequest, MergeRequestState } from './merge-request.ts'
import type { MergeRequestFilter, MergeRequestOrder } from './merge-request-filter.ts'
import { listedColumns, type MergeRequestRow, mergeRequestTables } from './merge-request-store.ts'
import { hasReviewState, reviewConditions } from './review-conditions.ts'
import { approvalsByMergeRequest, reviewersByMergeRequest } from './review-store.ts'

/** Returns a page of the merge requests that the actor may see. */
export async function pageOfMergeRequests(
  context: ReadContext,
  actor: Actor,
  filter: MergeRequestFilter,
  page: PageRequest,
): Promise<Page<DescribedMergeRequest>> {
  const wanted = mergeRequestQuery(context, actor, filter).select('merge_requests.description')
  const rows = await pageOf(context, orderedBy(wanted, mergeRequestOrder(filter).columns), page)
  return { ...rows, items: await withDescriptions(context, await mergeRequestsOf(context, rows.items), rows.items) }
}

/** Returns the merge request with this iid, if the actor may see it. */
export async function findMergeRequest(
  context: ReadContext,
  actor: Actor,
  projectId: number,
  iid: number,
): Promise<DescribedMergeRequest | undefined> {
  const rows = await mergeRequestQuery(context, actor, { within: { projectId }, iids: [iid] })
    .select('merge_requests.description')
    .execute()
  const [mergeRequest] = await withDescriptions(context, await mergeRequestsOf(context, rows), rows)
  return mergeRequest
}

/** Returns the given merge requests that the actor may see, by id. */
export async function findMergeRequestsById(
  context: ReadContext,
  actor: Actor,
  ids: readonly number[],
): Promise<ReadonlyMap<number, MergeRequest>> {
  if (ids.length === 0) return new Map()
  const rows = await mergeRequestQuery(context, actor, {})
    .where('merge_requests.id', 'in', [...new Set(ids)])
    .execute()
  return new Map((await mergeRequestsOf(context, rows)).map((mergeRequest) => [mergeRequest.id, mergeRequest]))
}

/**
 * Returns the query over `merge_requests` and `projects` for the merge requests that the actor may see and that match
 * the filter.
 */
function mergeRequestQuery(context: ReadContext, actor: Actor, filter: MergeRequestFilter) {
  return context.db
    .selectFrom('merge_requests')
    .innerJoin('projects', 'projects.id', 'merge_requests.project_id')
    .select(listedColumns)
    .leftJoin('branch_tips', (join) =>
      join
        .onRef('branch_tips.project_id', '=', 'merge_requests.project_id')
        .onRef('branch_tips.name', '=', 'merge_requests.source_branch'),
    )
    .leftJoin('merge_checks', (join) =>
      join
        .onRef('merge_checks.merge_request_id', '=', 'merge_requests.id')
        .onRef('merge_checks.source_sha', '=', 'branch_tips.sha'),
    )
    .leftJoin('merge_request_auto_merges', 'merge_request_auto_merges.merge_request_id', 'merge_requests.id')
    .select('merge_request_auto_merges.user_id as auto_merge_user_id')
    .select(['projects.full_path as project_path', 'projects.settings as project_settings'])
    .select(['branch_tips.sha as branch_sha', newestHeadSha.as('newest_head_sha'), targetSha.as('target_sha')])
    .select('merge_checks.target_sha as checked_target_sha')
    .select(['merge_checks.outcome as check_outcome', 'merge_checks.is_behind as check_is_behind'])
    .where((eb) => eb.and([...conditionsOf(context, mergeRequestTables, filter), ...ownConditions(actor, filter)]))
    .where(isReadable(context, actor, filter))
}

/** The present head of the target branch of the merge request in a query. */
const targetSha = sql<string | null>`(select target.sha from branch_tips as target
  where target.project_id = merge_requests.project_id and target.name = merge_requests.target_branch)`

/** Returns the condition, for a query over `projects`, that the actor may read the merge requests of a project. */
function isReadable(context: ReadContext, actor: Actor, filter: MergeRequestFilter): Expression<SqlBool> {
  const standing = standingWithin(filter)
  if (standing === undefined) return allowedInProject(context, actor, 'read_merge_request')
  return can(standing, 'read_merge_request') ? always : never
}

/** Returns, by label id, the number of open merge requests that the actor may see. */
export async function openMergeRequestsByLabel(
  context: ReadContext,
  actor: Actor,
  labelIds: readonly number[],
): Promise<ReadonlyMap<number, number>> {
  const rows = await mergeRequestQuery(context, actor, { state: 'opened' })
    .innerJoin('merge_request_labels', 'merge_request_labels.merge_request_id', 'merge_requests.id')
    .where('merge_request_labels.label_id', 'in', [...labelIds])
    .clearSelect()
    .select(['merge_request_labels.label_id', ({ fn }) => fn.countAll<number>().as('count')])
    .groupBy('merge_request_labels.label_id')
    .execute()
  return new Map(rows.map(({ label_id, count }) => [label_id, count]))
}

/** Returns the conditions of filters that only merge requests have. */
function ownConditions(
  actor: Actor,
  { state, not = {}, or = {}, ...filter }: MergeRequestFilter,
): RawBuilder<SqlBool>[] {
  const { sourceBranches, targetBranches, assigneeUsername, reviewerId, reviewerUsername, mergedByUsername } = filter
  const column = (name: keyof MergeRequestRow) => sql.ref(`merge_requests.${name}`)
  const isAmong = (name: keyof MergeRequestRow, values: readonly string[]) => isOneOf(column(name), values)
  const isAssigned = (username: string) =>
    personCondition(mergeRequestTables, 'merge_request_assignees', { usernames: [username] })
  const reviews = (username: string) =>
    personCondition(mergeRequestTables, 'merge_request_reviewers', { usernames: [username] })
  return [
    ...comparisonsOf(mergeRequestTables, { ...filter, state: state === 'all' ? undefined : state }, comparisons),
    assigneeUsername !== undefined && isAssigned(assigneeUsername),
    peopleCondition(mergeRequestTables, 'merge_request_assignees', filter.assigneeUsernames ?? []),
    reviewerId !== undefined && personCondition(mergeRequestTables, 'merge_request_reviewers', reviewerId),
    reviewerUsername !== undefined && reviews(reviewerUsername),
    sourceBranches !== undefined && isAmong('source_branch', sourceBranches),
    targetBranches !== undefined && isAmong('target_branch', targetBranches),
    mergedByUsername !== undefined &&
      sql<SqlBool>`${column('merged_by_id')} in (select id from users where lower(username) = lower(${mergedByUsername}))`,
    ...reactionConditions(mergeRequestTables, actor, { ...filter, not }),
    ...releaseConditions(mergeRequestTables, { ...filter, not }),
    filter.subscribed !== undefined && subscriptionCondition(mergeRequestTables, actor, filter.subscribed),
    filter.ids !== undefined && sql<SqlBool>`${column('id')} in (${sql.join(filter.ids)})`,
    filter.mentionsIssueId !== undefined && mentionsIssue(filter.mentionsIssueId),
    filter.closesIssueId !== undefined &&
      sql<SqlBool>`(${column('target_branch')} = projects.default_branch
        and ${mentionsIssue(filter.closesIssueId, { onlyClosing: true })})`,
    ...reviewConditions({ ...filter, not }),
    filter.mergeUserId !== undefined && sql<SqlBool>`${column('merged_by_id')} = ${filter.mergeUserId}`,
    filter.sourceProjectId !== undefined && sql<SqlBool>`${column('project_id')} = ${filter.sourceProjectId}`,
    not.reviewerId !== undefined &&
      sql<SqlBool>`not ${personCondition(mergeRequestTables, 'merge_request_reviewers', not.reviewerId)}`,
    not.reviewerUsername !== undefined && sql<SqlBool>`not ${reviews(not.reviewerUsername)}`,
    not.sourceBranches !== undefined && sql<SqlBool>`not ${isAmong('source_branch', not.sourceBranches)}`,
    not.targetBranches !== undefined && sql<SqlBool>`not ${isAmong('target_branch', not.targetBranches)}`,
    anyOf([
      or.reviewStates !== undefined && hasReviewState(or.reviewStates),
      or.reviewers !== undefined && personCondition(mergeRequestTables, 'merge_request_reviewers', or.reviewers),
      or.onlyReviewerUsername !== undefined &&
        sql<SqlBool>`(${reviews(or.onlyReviewerUsername)} and (select count(*) from merge_request_reviewers as pairs
          where pairs.merge_request_id = ${column('id')}) = 1)`,
    ]),
  ].filter((condition) => condition !== false)
}

const comparisons: readonly Comparison<
  Pick<MergeRequestFilter, 'draft' | 'sourceBranch' | 'targetBranch' | 'mergedAfter' | 'mergedBefore'> & {
    readonly state: MergeRequestState | undefined
  }
>[] = [
  ['state', 'state', '='],
  ['draft', 'is_draft', '='],
  ['sourceBranch', 'source_branch', '='],
  ['targetBranch', 'target_branch', '='],
  ['mergedAfter', 'merged_at_ms', '>='],
  ['mergedBefore', 'merged_at_ms', '<='],
]

function anyOf(conditions: readonly (RawBuilder<SqlBool> | false)[]): RawBuilder<SqlBool> | false {
  const present = conditions.filter((condition) => condition !== false)
  return present.length > 0 && sql<SqlBool>`(${sql.join(present, sql` or `)})`
}

const mergeRequestOrderTable: Readonly<Record<MergeRequestOrder, IssuableOrder>> = {
  ...issuableOrderTable,
  merged_at: byColumn('merged_at_ms', lastTime),
}

const mergeRequestOrder = ({ orderBy = 'created_at', sort }: MergeRequestFilter) =>
  orderOf(mergeRequestTables, mergeRequestOrderTable, { orderBy, sort })

/**
 * Returns one list of merge requests for each filter. All filters must have the same order. Sums include only merged
 * merge requests.
 */
export function mergeRequestListing(
  context: ReadContext,
  actor: Actor,
  filters: readonly MergeRequestFilter[],
): Listing<MergeRequest, 'msToMerge'> {
  if (filters.length === 0) return emptyListing(0)
  const { columns, values } = mergeRequestOrder(filters[0]!)
  return listingOf(
    context,
    filters.map((filter) => mergeRequestQuery(context, actor, filter).select(values)),
    {
      order: columns,
      itemsOf: (rows: readonly MergeRequestRow[]) => mergeRequestsOf(context, rows),
      sums: { msToMerge: sql`merge_requests.merged_at_ms - merge_requests.created_at_ms` },
    },
  )
}

async function mergeRequestsOf(context: ReadContext, rows: readonly MergeRequestRow[]): Promise<MergeRequest[]> {
  const ids = rows.map((row) => row.id)
  const reviewers = await reviewersByMergeRequest(context, ids)
  const approvals = await approvalsByMergeRequest(context, ids)
  const people = [...reviewers.values(), ...approvals.values()].flat()
  const otherIds = [
    ...rows.flatMap((row) => [row.merged_by_id, row.auto_merge_user_id]),
    ...people.map((row) => row.user_id),
  ]
  const { of, users } = await issuablesOf(context, mergeRequestTables, rows, otherIds)
  const conditionsOfRow = await mergeConditionsByRow(context, rows)
  // A literal that spreads a large object and adds members to it takes 60 times as long in V8.
  return rows.map((row) =>
    Object.assign(of(row), {
      isDraft: row.is_draft === 1,
      state: row.state,
      sourceBranch: row.source_branch,
      targetBranch: row.target_branch,
      sha: (row.state === 'opened' ? row.branch_sha : row.newest_head_sha) ?? undefined,
      sourceBranchExists: row.branch_sha !== null,
      targetSha: row.target_sha ?? undefined,
      reviewers: (reviewers.get(row.id) ?? []).map((reviewer) => ({
        ...users.get(reviewer.user_id)!,
        reviewState: reviewer.state,
        requestedAtMs: reviewer.created_at_ms ?? undefined,
        reviewedAtMs: reviewer.updated_at_ms ?? undefined,
      })),
      approvals: (approvals.get(row.id) ?? []).map((approval) => ({
        user: users.get(approval.user_id)!,
        approvedAtMs: approval.created_at_ms,
      })),
      approvalsRequired: settingsFrom(projectSettings, row.project_settings).approvalsBeforeMerge,
      isSquashed: row.is_squashed === 1,
      removesSourceBranch: row.removes_source_branch === null ? undefined : row.removes_source_branch === 1,
      mergedBy: users.get(row.merged_by_id ?? 0),
      autoMergeUser: users.get(row.auto_merge_user_id ?? 0),
      mergedAtMs: row.merged_at_ms ?? undefined,
      mergeCommitSha: row.merge_commit_sha ?? undefined,
      squashCommitSha: row.squash_commit_sha ?? undefined,
      mergeConditions: conditionsOfRow(row),
    }),
  )
}
