import { pageOfIssues } from '../issues/issue-store.ts'
import type { Actor, Reading } from '../kit/context.ts'
import type { BurndownIssue } from './burndown.ts'
import type { Milestone } from './milestone.ts'

const MOST_ISSUES = 10_000

/** Those of its issues that the actor may see, the oldest first; the first 10,000. */
export async function burndownIssues(reading: Reading, actor: Actor, { id }: Milestone): Promise<BurndownIssue[]> {
  const oldestFirst = { milestoneId: id, orderBy: 'created_at', sort: 'asc' } as const
  const { items } = await pageOfIssues(reading, actor, oldestFirst, { page: 1, perPage: MOST_ISSUES })
  if (items.length === 0) return []
  const issueIds = items.map((issue) => issue.id)
  const events = await reading.db
    .selectFrom('issue_state_events')
    .select(['issue_id', 'action', 'at_ms'])
    .where('issue_id', 'in', issueIds)
    .orderBy('at_ms')
    .orderBy('id')
    .execute()
  const changes = new Map(issueIds.map((issueId): [number, BurndownIssue['events'][number][]] => [issueId, []]))
  for (const { issue_id, action, at_ms } of events) changes.get(issue_id)?.push({ action, atMs: at_ms })
  return items.map((issue) => ({
    createdAtMs: issue.createdAtMs,
    weight: issue.weight,
    isClosed: issue.state === 'closed',
    events: changes.get(issue.id) ?? [],
  }))
}
