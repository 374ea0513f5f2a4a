import { DomainError } from '../../base/kit/domain-error.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import type { Actor } from '../../base/model/user.ts'
import type { Milestone } from '../milestones/milestone.ts'
import type { BurndownIssue } from './burndown.ts'
import type { IssueFilter } from './issue.ts'
import { issueQuery } from './issue-store.ts'

/** The maximum number of changes of all issues together. An issue without changes is counted as one change. */
const MAX_CHANGES = 100_000

/**
 * Returns the milestone's issues that the actor may see, oldest first.
 *
 * @throws DomainError `refused` if they have more changes than one response may contain
 */
export async function burndownIssues(
  context: ReadContext,
  actor: Actor,
  { id }: Milestone,
): Promise<readonly BurndownIssue[]> {
  return (await burndownIssuesOfEach(context, actor, [id])).get(id) ?? []
}

/**
 * Returns the issues that the actor may see, oldest first, in a map by the id of their milestone.
 *
 * @throws DomainError `refused` if they have more changes than one response may contain
 */
export async function burndownIssuesOfEach(
  context: ReadContext,
  actor: Actor,
  milestoneIds: readonly number[],
  within?: IssueFilter['within'],
): Promise<ReadonlyMap<number, readonly BurndownIssue[]>> {
  if (milestoneIds.length === 0) return new Map()
  const rows = await issueQuery(context, actor, within === undefined ? {} : { within })
    .where('issues.milestone_id', 'in', [...milestoneIds])
    .leftJoin('issue_state_events as changes', 'changes.issue_id', 'issues.id')
    .clearSelect()
    .select([
      'issues.id',
      'issues.milestone_id',
      'issues.created_at_ms',
      'issues.weight',
      'issues.state',
      'changes.action',
      'changes.at_ms',
    ])
    .orderBy('issues.created_at_ms')
    .orderBy('issues.id')
    .orderBy('changes.at_ms')
    .orderBy('changes.id')
    .limit(MAX_CHANGES + 1)
    .execute()
  if (rows.length > MAX_CHANGES) {
    const message = `The issues of the milestones have changed more than ${MAX_CHANGES} times`
    throw new DomainError({ code: 'refused', message })
  }
  type Issue = BurndownIssue & { readonly events: BurndownIssue['events'][number][] }
  const milestones = new Map<number, Map<number, Issue>>()
  for (const { id, milestone_id, created_at_ms, weight, state, action, at_ms } of rows) {
    const issues = milestones.get(milestone_id!) ?? new Map<number, Issue>()
    milestones.set(milestone_id!, issues)
    const issue = issues.get(id) ?? {
      createdAtMs: created_at_ms,
      weight: weight ?? undefined,
      isClosed: state === 'closed',
      events: [],
    }
    if (action !== null && at_ms !== null) issue.events.push({ action, atMs: at_ms })
    issues.set(id, issue)
  }
  return new Map([...milestones].map(([id, issues]) => [id, [...issues.values()]]))
}
