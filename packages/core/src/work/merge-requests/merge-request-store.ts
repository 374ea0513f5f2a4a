import type { Generated, Selectable } from 'kysely'
import { nextIid } from '../../base/kit/internal-id.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import type { Project } from '../../base/model/project.ts'
import type { Tx } from '../../base/operations/context.ts'
import { recordMergeRequestVersions } from '../../code/repositories/merge-request-version-store.ts'
import type { IssuableTables } from '../issues/issuable-tables.ts'
import {
  type BranchCheckOutcome,
  type DescribedMergeRequest,
  isDraftTitle,
  type MergeRequest,
  type MergeRequestState,
} from './merge-request.ts'

declare module '../../base/kit/tables.ts' {
  interface CoreTables {
    merge_requests: MergeRequestsTable
    merge_request_labels: { merge_request_id: number; label_id: number }
    merge_request_assignees: { merge_request_id: number; user_id: number }
    merge_request_subscriptions: { merge_request_id: number; user_id: number; is_subscribed: number }
  }
}

interface MergeRequestsTable {
  id: Generated<number>
  project_id: number
  iid: number
  title: string
  is_draft: number
  description: string | null
  state: MergeRequestState
  source_branch: string
  target_branch: string
  author_id: number | null
  milestone_id: number | null
  is_discussion_locked: number | null
  is_squashed: number
  removes_source_branch: number | null
  merged_by_id: number | null
  merged_at_ms: number | null
  merge_commit_sha: Generated<string | null>
  squash_commit_sha: Generated<string | null>
  closed_by_id: number | null
  closed_at_ms: number | null
  created_at_ms: number
  updated_at_ms: number
  time_estimate_seconds: Generated<number>
  time_spent_seconds: Generated<number>
  user_notes_count: Generated<number>
  upvotes: Generated<number>
  downvotes: Generated<number>
}

export const mergeRequestTables = {
  items: 'merge_requests',
  itemId: 'merge_request_id',
  labels: 'merge_request_labels',
  assignees: 'merge_request_assignees',
  subscriptions: 'merge_request_subscriptions',
} as const satisfies IssuableTables

/** Every column but the description. */
export const listedColumns = [
  'merge_requests.id',
  'merge_requests.project_id',
  'merge_requests.iid',
  'merge_requests.title',
  'merge_requests.is_draft',
  'merge_requests.state',
  'merge_requests.source_branch',
  'merge_requests.target_branch',
  'merge_requests.author_id',
  'merge_requests.milestone_id',
  'merge_requests.is_discussion_locked',
  'merge_requests.is_squashed',
  'merge_requests.removes_source_branch',
  'merge_requests.merged_by_id',
  'merge_requests.merged_at_ms',
  'merge_requests.merge_commit_sha',
  'merge_requests.squash_commit_sha',
  'merge_requests.closed_by_id',
  'merge_requests.closed_at_ms',
  'merge_requests.created_at_ms',
  'merge_requests.updated_at_ms',
  'merge_requests.time_estimate_seconds',
  'merge_requests.time_spent_seconds',
  'merge_requests.user_notes_count',
  'merge_requests.upvotes',
  'merge_requests.downvotes',
] as const

export type MergeRequestRow = Omit<Selectable<MergeRequestsTable>, 'description'> & {
  project_path: string
  /** JSON, see `settingsFrom`. */
  project_settings: string
  auto_merge_user_id: number | null
  branch_sha: string | null
  target_sha: string | null
  checked_target_sha: string | null
  check_outcome: BranchCheckOutcome | null
  check_is_behind: number | null
  newest_head_sha: string | null
}

/** Returns the iid of the open merge request with the same source and target branch. */
export async function findOpenIid(
  { db }: ReadContext,
  projectId: number,
  { sourceBranch, targetBranch }: Pick<MergeRequest, 'sourceBranch' | 'targetBranch'>,
): Promise<number | undefined> {
  const row = await db
    .selectFrom('merge_requests')
    .select('iid')
    .where('project_id', '=', projectId)
    .where('source_branch', '=', sourceBranch)
    .where('target_branch', '=', targetBranch)
    .where('state', '=', 'opened')
    .orderBy('id')
    .executeTakeFirst()
  return row?.iid
}

export type MergeRequestDraft = Pick<
  DescribedMergeRequest,
  'title' | 'description' | 'targetBranch' | 'isDiscussionLocked' | 'isSquashed' | 'removesSourceBranch'
> & { readonly milestoneId: number | undefined }

/** Inserts a merge request and returns its id and iid. */
export async function insertMergeRequest(
  tx: Tx,
  project: Project,
  authorId: number,
  draft: MergeRequestDraft & Pick<MergeRequest, 'sourceBranch'>,
) {
  const inserted = await tx.db
    .insertInto('merge_requests')
    .values({
      project_id: project.id,
      iid: await nextIid(tx, { projectId: project.id }, 'merge_requests'),
      ...columnsOf(draft),
      source_branch: draft.sourceBranch,
      state: 'opened',
      author_id: authorId,
      merged_by_id: null,
      merged_at_ms: null,
      closed_by_id: null,
      closed_at_ms: null,
      created_at_ms: tx.nowMs,
      updated_at_ms: tx.nowMs,
    })
    .returning(['id', 'iid'])
    .executeTakeFirstOrThrow()
  await recordMergeRequestVersions(tx, { projectId: project.id, branch: draft.sourceBranch })
  return inserted
}

export async function updateMergeRequestRow({ db, nowMs }: Tx, id: number, draft: MergeRequestDraft): Promise<void> {
  await db
    .updateTable('merge_requests')
    .set({ ...columnsOf(draft), updated_at_ms: nowMs })
    .where('id', '=', id)
    .execute()
}

export async function setMergeRequestState(
  { db, nowMs }: Tx,
  id: number,
  state: 'opened' | 'closed',
  userId: number,
): Promise<void> {
  const closes = state === 'closed'
  await db
    .updateTable('merge_requests')
    .set({ state, closed_at_ms: closes ? nowMs : null, closed_by_id: closes ? userId : null, updated_at_ms: nowMs })
    .where('id', '=', id)
    .execute()
}

/** Stores that a user merged a merge request, and the commits of the merge. */
export async function setMerged(
  { db, nowMs }: Tx,
  id: number,
  merge: {
    readonly userId: number
    readonly mergeCommit: string | undefined
    readonly squashCommit: string | undefined
  },
): Promise<void> {
  await db
    .updateTable('merge_requests')
    .set({
      state: 'merged',
      merged_by_id: merge.userId,
      merged_at_ms: nowMs,
      merge_commit_sha: merge.mergeCommit ?? null,
      squash_commit_sha: merge.squashCommit ?? null,
      updated_at_ms: nowMs,
    })
    .where('id', '=', id)
    .execute()
}

/** Sets the time of the last change to now. */
export async function touchMergeRequest({ db, nowMs }: Tx, id: number): Promise<void> {
  await db.updateTable('merge_requests').set({ updated_at_ms: nowMs }).where('id', '=', id).execute()
}

export async function deleteMergeRequest({ db }: Tx, id: number): Promise<void> {
  await db.deleteFrom('merge_requests').where('id', '=', id).execute()
}

const columnsOf = (draft: MergeRequestDraft) => ({
  title: draft.title,
  is_draft: Number(isDraftTitle(draft.title)),
  description: draft.description ?? null,
  target_branch: draft.targetBranch,
  milestone_id: draft.milestoneId ?? null,
  is_discussion_locked: draft.isDiscussionLocked === undefined ? null : Number(draft.isDiscussionLocked),
  is_squashed: Number(draft.isSquashed),
  removes_source_branch: draft.removesSourceBranch === undefined ? null : Number(draft.removesSourceBranch),
})

/** Returns the given names for which the project has a branch. */
export async function existingBranches(
  { db }: ReadContext,
  projectId: number,
  names: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await db
    .selectFrom('branch_tips')
    .select('name')
    .where('project_id', '=', projectId)
    .where('name', 'in', [...names])
    .execute()
  return new Set(rows.map((row) => row.name))
}

/** Returns the current head commits of the target branches, by `tipKey`. */
export async function branchTipsOf(
  { db }: ReadContext,
  mergeRequests: readonly Pick<MergeRequest, 'projectId' | 'targetBranch'>[],
): Promise<ReadonlyMap<string, string>> {
  if (mergeRequests.length === 0) return new Map()
  const rows = await db
    .selectFrom('branch_tips')
    .selectAll()
    .where('project_id', 'in', [...new Set(mergeRequests.map(({ projectId }) => projectId))])
    .where('name', 'in', [...new Set(mergeRequests.map(({ targetBranch }) => targetBranch))])
    .execute()
  return new Map(rows.map((row) => [tipKey(row.project_id, row.name), row.sha]))
}

export const tipKey = (projectId: number, branch: string): string => `${projectId}:${branch}`
