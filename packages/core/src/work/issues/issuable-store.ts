import type { ReadContext } from '../../base/kit/store-context.ts'
import type { User } from '../../base/model/user.ts'
import { type DescribedRow, describedThings } from '../../base/operations/description-store.ts'
import { userOf } from '../../identity/users/user-store.ts'
import { findMilestones } from '../milestones/milestone-store.ts'
import type { DescribedIssuable, Issuable } from './issuable.ts'
import { labelsByItem, userIdsByItem } from './issuable-pair-store.ts'
import type { IssuableTables } from './issuable-tables.ts'

/** The columns that rows of issues and merge requests share, and the path of their project. */
export interface IssuableRow {
  readonly id: number
  readonly iid: number
  readonly project_id: number
  readonly project_path: string
  readonly title: string
  readonly author_id: number | null
  readonly milestone_id: number | null
  readonly is_discussion_locked: number | null
  readonly closed_by_id: number | null
  readonly closed_at_ms: number | null
  readonly created_at_ms: number
  readonly updated_at_ms: number
  readonly time_estimate_seconds: number
  readonly time_spent_seconds: number
  readonly user_notes_count: number
  readonly upvotes: number
  readonly downvotes: number
}

/**
 * Loads, for the rows of a page, the fields that issues and merge requests share. The number of queries is constant.
 *
 * @param otherIds the ids of further users to load
 */
export async function issuablesOf(
  context: ReadContext,
  tables: IssuableTables,
  rows: readonly IssuableRow[],
  otherIds: Iterable<number | null> = [],
): Promise<{ readonly of: (row: IssuableRow) => Issuable; readonly users: ReadonlyMap<number, User> }> {
  const ids = rows.map((row) => row.id)
  const labels = await labelsByItem(context, tables, ids)
  const assignees = await userIdsByItem(context, tables, tables.assignees, ids)
  const userIds = [...rows.flatMap((row) => [row.author_id, row.closed_by_id]), ...[...assignees.values()].flat()]
  const users = await usersById(context, [...userIds, ...otherIds])
  const milestones = await findMilestones(
    context,
    rows.flatMap((row) => row.milestone_id ?? []),
  )
  const of = (row: IssuableRow): Issuable => ({
    id: row.id,
    iid: row.iid,
    projectId: row.project_id,
    projectPath: row.project_path,
    title: row.title,
    author: users.get(row.author_id ?? 0),
    assignees: (assignees.get(row.id) ?? []).map((id) => users.get(id)!),
    labels: labels.get(row.id) ?? [],
    milestone: milestones.get(row.milestone_id ?? 0),
    isDiscussionLocked: row.is_discussion_locked === null ? undefined : row.is_discussion_locked === 1,
    closedBy: users.get(row.closed_by_id ?? 0),
    closedAtMs: row.closed_at_ms ?? undefined,
    createdAtMs: row.created_at_ms,
    updatedAtMs: row.updated_at_ms,
    timeEstimateSeconds: row.time_estimate_seconds,
    timeSpentSeconds: row.time_spent_seconds,
    userNotesCount: row.user_notes_count,
    upvotes: row.upvotes,
    downvotes: row.downvotes,
  })
  return { of, users }
}

/** Returns the items with their own descriptions and those of their milestones. */
export async function withDescriptions<Item extends Issuable>(
  context: ReadContext,
  items: readonly Item[],
  rows: readonly DescribedRow<unknown>[],
): Promise<(Item & DescribedIssuable)[]> {
  const milestones = await describedThings(
    context,
    'milestones',
    items.flatMap(({ milestone }) => milestone ?? []),
  )
  return items.map((item, index) => ({
    ...item,
    description: rows[index]!.description ?? undefined,
    milestone: item.milestone && milestones.get(item.milestone.id),
  }))
}

async function usersById({ db }: ReadContext, ids: Iterable<number | null>): Promise<ReadonlyMap<number, User>> {
  const wanted = [...new Set(ids)].filter((id) => id !== null)
  if (wanted.length === 0) return new Map()
  const rows = await db.selectFrom('users').selectAll().where('id', 'in', wanted).execute()
  return new Map(rows.map((row) => [row.id, userOf(row)]))
}
