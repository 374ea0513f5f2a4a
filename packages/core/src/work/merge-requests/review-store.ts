import type { Generated } from 'kysely'
import type { ReadContext } from '../../base/kit/store-context.ts'
import type { Project } from '../../base/model/project.ts'
import type { Tx } from '../../base/operations/context.ts'
import { setPeople } from '../issues/issuable-changes.ts'
import { groupByKey } from '../issues/issuable-pair-store.ts'
import type { ReviewState } from './merge-request.ts'
import { mergeRequestTables } from './merge-request-store.ts'

declare module '../../base/kit/tables.ts' {
  interface CoreTables {
    merge_request_approvals: { merge_request_id: number; user_id: number; created_at_ms: number }
    merge_request_reviewers: {
      merge_request_id: number
      user_id: number
      state: Generated<ReviewState>
      /** Null for reviewers from the time before it was recorded. */
      created_at_ms: number | null
      /** The time of the last change of the state. */
      updated_at_ms: number | null
    }
  }
}

/** Returns the rows of reviewers by merge request, ordered by user id. */
export async function reviewersByMergeRequest({ db }: ReadContext, ids: readonly number[]) {
  if (ids.length === 0) return groupByKey<never>([])
  const rows = await db
    .selectFrom('merge_request_reviewers')
    .selectAll()
    .where('merge_request_id', 'in', [...ids])
    .orderBy('user_id')
    .execute()
  return groupByKey(rows.map((row) => [row.merge_request_id, row] as const))
}

/** Returns the rows of approvals by merge request, the oldest first. */
export async function approvalsByMergeRequest({ db }: ReadContext, ids: readonly number[]) {
  if (ids.length === 0) return groupByKey<never>([])
  const rows = await db
    .selectFrom('merge_request_approvals')
    .selectAll()
    .where('merge_request_id', 'in', [...ids])
    .orderBy('created_at_ms')
    .orderBy('user_id')
    .execute()
  return groupByKey(rows.map((row) => [row.merge_request_id, row] as const))
}

export async function insertApproval({ db, nowMs }: Tx, mergeRequestId: number, userId: number): Promise<void> {
  await db
    .insertInto('merge_request_approvals')
    .values({ merge_request_id: mergeRequestId, user_id: userId, created_at_ms: nowMs })
    .execute()
}

/** Deletes the approval of one user, or all approvals. */
export async function deleteApprovals({ db }: Tx, mergeRequestId: number, userId?: number): Promise<void> {
  let query = db.deleteFrom('merge_request_approvals').where('merge_request_id', '=', mergeRequestId)
  if (userId !== undefined) query = query.where('user_id', '=', userId)
  await query.execute()
}

/** Replaces the reviewers, without users who cannot see the project, and returns whether anything changed. */
export function setReviewers(tx: Tx, project: Project, id: number, userIds: readonly number[] | undefined) {
  if (userIds === undefined) return false
  const times = { created_at_ms: tx.nowMs, updated_at_ms: tx.nowMs }
  return setPeople(tx, mergeRequestTables, 'merge_request_reviewers', project, id, userIds, times)
}

/** Sets the state of a reviewer. Does nothing if the user is not a reviewer. */
export async function setReviewState(
  { db, nowMs }: Tx,
  mergeRequestId: number,
  userId: number,
  state: ReviewState,
): Promise<void> {
  await db
    .updateTable('merge_request_reviewers')
    .set({ state, updated_at_ms: nowMs })
    .where('merge_request_id', '=', mergeRequestId)
    .where('user_id', '=', userId)
    .execute()
}

/** Sets the state of all reviewers that have another one. */
export async function replaceReviewStates(
  { db, nowMs }: Tx,
  mergeRequestId: number,
  { from, to }: { readonly from: ReviewState; readonly to: ReviewState },
): Promise<void> {
  await db
    .updateTable('merge_request_reviewers')
    .set({ state: to, updated_at_ms: nowMs })
    .where('merge_request_id', '=', mergeRequestId)
    .where('state', '=', from)
    .execute()
}
