import { z } from 'zod'
import { unscopedBatchQuery } from '../../base/operations/operation.ts'

type Column = 'issue_id' | 'merge_request_id'

/** Returns the number of discussions of each item, without those of the service. A caller who sees an item may know it. */
const discussionCountsBy = (name: string, column: Column) =>
  unscopedBatchQuery({ name, input: z.object({}) }, async ({ db }, items: readonly { readonly id: number }[]) => {
    const ids = items.map(({ id }) => id)
    const rows = await db
      .selectFrom('notes')
      .select([`${column} as id`, ({ fn }) => fn.count<number>('discussion_id').distinct().as('count')])
      .where(column, 'in', ids)
      .where('is_system', '=', 0)
      .groupBy(column)
      .execute()
    const counts = new Map(rows.map(({ id, count }) => [id, Number(count)]))
    return ids.map((id) => counts.get(id) ?? 0)
  })

export const discussionCountOfEachIssue = discussionCountsBy('discussionCountOfEachIssue', 'issue_id')
export const discussionCountOfEachMergeRequest = discussionCountsBy(
  'discussionCountOfEachMergeRequest',
  'merge_request_id',
)
