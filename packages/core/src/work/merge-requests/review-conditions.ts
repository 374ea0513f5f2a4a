import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { never } from '../../base/kit/conditions.ts'
import { peopleCondition, personCondition } from '../issues/issuable-conditions.ts'
import type { ReviewState } from './merge-request.ts'
import type { MergeRequestFilter } from './merge-request-filter.ts'
import { mergeRequestTables } from './merge-request-store.ts'

const approvals = 'merge_request_approvals'

/** Returns the conditions of a filter that are about approvals and the states of reviewers. */
export function reviewConditions({ approvedByIds, approvedByUsernames, not = {}, ...filter }: MergeRequestFilter) {
  const { reviewState, reviewStates } = filter
  const conditions: (RawBuilder<SqlBool> | false)[] = [
    ...approvedBy(approvedByIds),
    approvedByUsernames !== undefined && peopleCondition(mergeRequestTables, approvals, approvedByUsernames),
    not.approvedByIds !== undefined && isNone(approvedBy(not.approvedByIds)),
    not.approvedByUsernames !== undefined &&
      isNone(not.approvedByUsernames.map((username) => isApprovedBy({ usernames: [username] }))),
    reviewState !== undefined && hasReviewState([reviewState], filter),
    reviewStates !== undefined && hasReviewState(reviewStates, filter),
    not.reviewStates !== undefined && sql<SqlBool>`not ${hasReviewState(not.reviewStates)}`,
  ]
  return conditions.filter((condition) => condition !== false)
}

/** Returns the condition that some reviewer, or the one of the filter, has one of the states. */
export function hasReviewState(
  states: readonly ReviewState[],
  { reviewerId, reviewerUsername }: Pick<MergeRequestFilter, 'reviewerId' | 'reviewerUsername'> = {},
): RawBuilder<SqlBool> {
  if (states.length === 0) return never
  const conditions = [
    sql`pairs.merge_request_id = merge_requests.id`,
    sql`pairs.state in (${sql.join([...states])})`,
    ...(typeof reviewerId === 'number' ? [sql`pairs.user_id = ${reviewerId}`] : []),
    ...(reviewerUsername === undefined
      ? []
      : [sql`pairs.user_id in (select id from users where lower(username) = lower(${reviewerUsername}))`]),
  ]
  return sql<SqlBool>`exists (select 1 from merge_request_reviewers as pairs where ${sql.join(conditions, sql` and `)})`
}

const isApprovedBy = (who: Parameters<typeof personCondition>[2]) => personCondition(mergeRequestTables, approvals, who)

const approvedBy = (who: MergeRequestFilter['approvedByIds'] = []): RawBuilder<SqlBool>[] =>
  typeof who === 'string' ? [isApprovedBy(who)] : [...new Set(who)].map(isApprovedBy)

const isNone = (conditions: readonly RawBuilder<SqlBool>[]): RawBuilder<SqlBool> | false =>
  conditions.length > 0 && sql<SqlBool>`not (${sql.join([...conditions], sql` or `)})`
