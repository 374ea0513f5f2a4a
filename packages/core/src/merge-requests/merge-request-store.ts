import { type Generated, type Selectable, type SelectQueryBuilder, sql } from 'kysely'
import { allowedInProject } from '../access/visible-store.ts'
import {
  conditionsOf,
  type IssuableTables,
  issuablesOf,
  labelPriorityOf,
  personCondition,
  userIdsByItem,
} from '../issues/issuable-store.ts'
import type { Actor, Reading, Tx } from '../kit/context.ts'
import { nextIid } from '../kit/internal-id.ts'
import { type Page, type PageRequest, pageOf } from '../kit/page.ts'
import type { CoreTables } from '../kit/tables.ts'
import type { Project } from '../projects/project.ts'
import { isDraftTitle, type MergeRequest, type MergeRequestFilter, type MergeRequestState } from './merge-request.ts'

declare module '../kit/tables.ts' {
  interface CoreTables {
    merge_requests: MergeRequestsTable
    merge_request_labels: { merge_request_id: number; label_id: number }
    merge_request_assignees: { merge_request_id: number; user_id: number }
    merge_request_reviewers: { merge_request_id: number; user_id: number }
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
  closed_by_id: number | null
  closed_at_ms: number | null
  created_at_ms: number
  updated_at_ms: number
}

export const mergeRequestTables = {
  items: 'merge_requests',
  itemId: 'merge_request_id',
  labels: 'merge_request_labels',
  assignees: 'merge_request_assignees',
} as const satisfies IssuableTables

type MergeRequestRow = Selectable<MergeRequestsTable> & { project_path: string; sha: string | null }

/**
 * Of the merge requests that the actor may see.
 *
 * @see spec/rest-part2-details.md 8.9
 */
export async function pageOfMergeRequests(
  reading: Reading,
  actor: Actor,
  filter: MergeRequestFilter,
  page: PageRequest,
): Promise<Page<MergeRequest>> {
  const rows = await pageOf(reading, ordered(wantedMergeRequests(reading, actor, filter), filter), page)
  return { ...rows, items: await mergeRequestsOf(reading, rows.items) }
}

/** By its number in its project, if the actor may see it. */
export async function findMergeRequest(
  reading: Reading,
  actor: Actor,
  projectId: number,
  iid: number,
): Promise<MergeRequest | undefined> {
  const rows = await wantedMergeRequests(reading, actor, { within: { projectId }, iids: [iid] }).execute()
  const [mergeRequest] = await mergeRequestsOf(reading, rows)
  return mergeRequest
}

/** The number of the open one that would bring the same branch to the same branch. */
export async function findOpenIid(
  { db }: Reading,
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
  MergeRequest,
  'title' | 'description' | 'targetBranch' | 'isDiscussionLocked' | 'isSquashed' | 'removesSourceBranch'
> & { readonly milestoneId: number | undefined }

/** Its id and its number in the project. */
export async function insertMergeRequest(
  tx: Tx,
  project: Project,
  authorId: number,
  draft: MergeRequestDraft & Pick<MergeRequest, 'sourceBranch'>,
) {
  return tx.db
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

export async function deleteMergeRequest({ db }: Tx, id: number): Promise<void> {
  await db.deleteFrom('merge_requests').where('id', '=', id).execute()
}

function wantedMergeRequests(reading: Reading, actor: Actor, filter: MergeRequestFilter) {
  const { state = 'all', draft, sourceBranch, targetBranch, assigneeUsername, reviewerId, reviewerUsername } = filter
  const isAssigned = (username: string) => personCondition(mergeRequestTables, 'merge_request_assignees', { username })
  const reviews = (who: Parameters<typeof personCondition>[2]) =>
    personCondition(mergeRequestTables, 'merge_request_reviewers', who)
  return reading.db
    .selectFrom('merge_requests')
    .innerJoin('projects', 'projects.id', 'merge_requests.project_id')
    .selectAll('merge_requests')
    .leftJoin('branch_tips', (join) =>
      join
        .onRef('branch_tips.project_id', '=', 'merge_requests.project_id')
        .onRef('branch_tips.name', '=', 'merge_requests.source_branch'),
    )
    .select(['projects.full_path as project_path', 'branch_tips.sha'])
    .where((eb) => eb.and(conditionsOf(mergeRequestTables, filter)))
    .where(allowedInProject(reading, actor, 'read_merge_request'))
    .$if(state !== 'all', (all) => all.where('merge_requests.state', '=', state as MergeRequestState))
    .$if(draft !== undefined, (all) => all.where('merge_requests.is_draft', '=', Number(draft)))
    .$if(sourceBranch !== undefined, (all) => all.where('merge_requests.source_branch', '=', sourceBranch!))
    .$if(targetBranch !== undefined, (all) => all.where('merge_requests.target_branch', '=', targetBranch!))
    .$if(assigneeUsername !== undefined, (all) => all.where(isAssigned(assigneeUsername!)))
    .$if(reviewerId !== undefined, (all) => all.where(reviews(reviewerId!)))
    .$if(reviewerUsername !== undefined, (all) => all.where(reviews({ username: reviewerUsername! })))
}

const columnsByOrder = { created_at: 'created_at_ms', updated_at: 'updated_at_ms', title: 'title' } as const

function ordered(
  query: SelectQueryBuilder<CoreTables, 'merge_requests' | 'projects', MergeRequestRow>,
  { orderBy = 'created_at', sort = orderBy === 'label_priority' ? 'asc' : 'desc' }: MergeRequestFilter,
) {
  return orderBy === 'label_priority'
    ? query.orderBy(labelPriorityOf(mergeRequestTables), sort).orderBy('merge_requests.id', 'desc')
    : query.orderBy(sql.ref(`merge_requests.${columnsByOrder[orderBy]}`), sort).orderBy('merge_requests.id', sort)
}

async function mergeRequestsOf(reading: Reading, rows: readonly MergeRequestRow[]): Promise<MergeRequest[]> {
  const ids = rows.map((row) => row.id)
  const reviewers = await userIdsByItem(reading, mergeRequestTables, 'merge_request_reviewers', ids)
  const otherIds = [...rows.map((row) => row.merged_by_id), ...[...reviewers.values()].flat()]
  const { of, users } = await issuablesOf(reading, mergeRequestTables, rows, otherIds)
  return rows.map((row) => ({
    ...of(row),
    isDraft: row.is_draft === 1,
    state: row.state,
    sourceBranch: row.source_branch,
    targetBranch: row.target_branch,
    sha: row.sha ?? undefined,
    reviewers: (reviewers.get(row.id) ?? []).map((id) => users.get(id)!),
    isSquashed: row.is_squashed === 1,
    removesSourceBranch: row.removes_source_branch === null ? undefined : row.removes_source_branch === 1,
    mergedBy: users.get(row.merged_by_id ?? 0),
    mergedAtMs: row.merged_at_ms ?? undefined,
  }))
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
