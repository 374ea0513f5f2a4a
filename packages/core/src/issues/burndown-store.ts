import { DomainError } from '../kit/domain-error.ts'
import type { ReadContext } from '../kit/store-context.ts'
import type { Milestone } from '../milestones/milestone.ts'
import type { Actor } from '../model/user.ts'
import type { BurndownIssue } from './burndown.ts'
import { issueQuery } from './issue-store.ts'

/** The limit of changes of all issues together. An issue without changes counts as one. */
const MAX_CHANGES = 100_000

/**
 * Returns the milestone's issues that the actor may see, oldest first.
 *
 * @throws DomainError `refused` if they have more changes than one response may contain
 */
export async function burndownIssues(context: ReadContext, actor: Actor, { id }: Milestone): Promise<BurndownIssue[]> {
  const rows = await issueQuery(context, actor, { milestoneId: id })
    .leftJoin('issue_state_events as changes', 'changes.issue_id', 'issues.id')
    .clearSelect()
    .select(['issues.id', 'issues.created_at_ms', 'issues.weight', 'issues.state', 'changes.action', 'changes.at_ms'])
    .orderBy('issues.created_at_ms')
    .orderBy('issues.id')
    .orderBy('changes.at_ms')
    .orderBy('changes.id')
    .limit(MAX_CHANGES + 1)
    .execute()
  if (rows.length > MAX_CHANGES) {
    const message = `The issues of the milestone have changed more than ${MAX_CHANGES} times`
    throw new DomainError({ code: 'refused', message })
  }
  const issues = new Map<number, BurndownIssue & { readonly events: BurndownIssue['events'][number][] }>()
  for (const { id, created_at_ms, weight, state, action, at_ms } of rows) {
    const issue = issues.get(id) ?? {
      createdAtMs: created_at_ms,
      weight: weight ?? undefined,
      isClosed: state === 'closed',
      events: [],
    }
    if (action !== null && at_ms !== null) issue.events.push({ action, atMs: at_ms })
    issues.set(id, issue)
  }
  return [...issues.values()]
}
