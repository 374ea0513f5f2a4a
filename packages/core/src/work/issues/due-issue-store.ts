import type { Tx } from '../../base/operations/context.ts'

/**
 * Marks open issues that are due on a day as announced for it, and returns them, ordered by id: at most `limit`, without those
 * that have the mark.
 */
export async function markDueIssues(
  { db }: Pick<Tx, 'db'>,
  day: string,
  limit: number,
): Promise<{ readonly id: number; readonly iid: number; readonly projectId: number }[]> {
  const due = db
    .selectFrom('issues')
    .select('id')
    .where('due_date', '=', day)
    .where('state', '=', 'opened')
    .where((eb) => eb.or([eb('due_announced_for', 'is', null), eb('due_announced_for', '<>', day)]))
    .orderBy('id')
    .limit(limit)
  const rows = await db
    .updateTable('issues')
    .set({ due_announced_for: day })
    .where('id', 'in', due)
    .returning(['id', 'iid', 'project_id as projectId'])
    .execute()
  // PostgreSQL returns updated rows in any order.
  return rows.toSorted((one, other) => one.id - other.id)
}
